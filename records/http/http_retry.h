#pragma once

#include <functional>
#include <optional>
#include <string>

#include "records/http/http_client.h"
#include "records/http/options.h"

// HTTP requests with retries for network and server failures.
namespace infeed {

// A caller's decision about an answer.
struct HttpVerdict {
  enum class Kind { kDone, kRetry, kFail };
  Kind kind = Kind::kDone;
  std::string reason{};  // why kRetry or kFail, for messages
};

struct RetriedRequest {
  std::string action{};  // for messages: "read"
  std::string url{};     // for messages: as the user gave it
  // Makes a new request for each attempt, as signatures expire.
  std::function<HttpRequest()> make{};
  // Called for every complete answer. If it returns nullopt, 2xx is success,
  // 408, 429 and 5xx are retried, and anything else fails.
  std::function<std::optional<HttpVerdict>(const HttpResponse&)> judge{};
};

// Sends a request until it succeeds. Throws IoError with action, URL (without
// its query), the last status, the store's error code and message, the number
// of attempts and what to do; StoppedError when the policy's stop is requested.
[[nodiscard]] HttpResponse SendWithRetries(const HttpClient& client,
                                           const RetriedRequest& request,
                                           const RetryPolicy& policy);

}  // namespace infeed
