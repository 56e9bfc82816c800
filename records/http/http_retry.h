#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "records/http/http_client.h"

// Requests that are tried again when the network or the server fails.
namespace infeed {

struct RetryPolicy {
  int attempts = 8;
  // The n-th wait is a random time up to min(max_delay, first_delay * 2^n).
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds max_delay{20'000};
  // What a server may demand by Retry-After; longer is cut to this.
  std::chrono::milliseconds max_retry_after{30'000};
  // For all attempts together, and one second more for each MiB moved.
  std::chrono::milliseconds deadline{120'000};
  // Ends requests, and the waits between them, within about a second: they
  // throw StoppedError.
  std::stop_token stop{};
};

// What a caller makes of an answer.
struct HttpVerdict {
  enum class Kind { kDone, kRetry, kFail };
  Kind kind = Kind::kDone;
  std::string reason{};  // of kRetry and kFail, for the message
};

struct RetriedRequest {
  std::string action{};  // for messages: "read"
  std::string url{};     // for messages: as the user knows it
  // Makes the request anew for each attempt: signatures age.
  std::function<HttpRequest()> make{};
  // Asked first about every whole answer. nullopt: 2xx is done; 408, 429 and
  // 5xx are tried again; anything else fails.
  std::function<std::optional<HttpVerdict>(const HttpResponse&)> judge{};
};

// Sends a request until it is done. Throws IoError with action, URL (without
// its query), the last status, the store's error code and message, the number
// of attempts and what to do; StoppedError when the policy's stop asks for it.
[[nodiscard]] HttpResponse SendWithRetries(const HttpClient& client,
                                           const RetriedRequest& request,
                                           const RetryPolicy& policy);

}  // namespace infeed
