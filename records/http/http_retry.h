#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "records/http/http_client.h"

// HTTP requests with retries for network and server failures.
namespace infeed {

struct RetryPolicy {
  int attempts = 8;
  // The n-th wait is a random time up to min(max_delay, first_delay * 2^n).
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds max_delay{20'000};
  // Limit of Retry-After: longer values are cut to this.
  std::chrono::milliseconds max_retry_after{30'000};
  // For all attempts together, plus one second for each MiB moved.
  std::chrono::milliseconds deadline{120'000};
  // Ends requests, and the waits between them, within about a second: they
  // throw StoppedError.
  std::stop_token stop{};
};

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
