#include "records/http/http_retry.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/whole_number.h"
#include "records/http/object_xml.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Kind = HttpVerdict::Kind;

constexpr int kRequestTimeout = 408;
constexpr int kTooManyRequests = 429;
constexpr int kNotImplemented = 501;
constexpr std::size_t kBytesPerSecond = std::size_t{1} << 20;
constexpr std::size_t kMaxReason = 320;
constexpr int kMaxDoublings = 30;

bool IsSuccess(int status) { return status >= 200 && status < 300; }

bool IsTransient(int status) {
  return status == kRequestTimeout || status == kTooManyRequests ||
         (status >= 500 && status != kNotImplemented);
}

// Makes a server's text fit for our messages: one line, limited in length.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; },
      ' ');
  return text.substr(0, kMaxReason);
}

// The error in the body of a store's answer: " (SlowDown: Reduce ...)".
std::string StoreText(const HttpResponse& response) {
  const std::optional<StoreError> error = ParseStoreError(response.body);
  if (!error) {
    return "";
  }
  return " (" + error->code + ": " + error->message + ")";
}

HttpVerdict DefaultVerdict(const HttpResponse& response) {
  if (IsSuccess(response.status)) {
    return {.kind = Kind::kDone, .reason = ""};
  }
  return {.kind = IsTransient(response.status) ? Kind::kRetry : Kind::kFail,
          .reason = "the server answered " + std::to_string(response.status) +
                    StoreText(response)};
}

HttpVerdict Judge(const RetriedRequest& request, const HttpResponse& response) {
  if (response.status == 0) {
    return {.kind = response.may_retry ? Kind::kRetry : Kind::kFail,
            .reason = response.failure};
  }
  if (request.judge) {
    if (std::optional<HttpVerdict> verdict = request.judge(response)) {
      return *std::move(verdict);
    }
  }
  return DefaultVerdict(response);
}

std::string_view AdviceFor(int status) {
  switch (status) {
    case 0:
      return "check the network and the address";
    case 301:
    case 307:
    case 308:
      return "it is elsewhere: set AWS_REGION or the endpoint, see "
             "docs/cloud.md";
    case 400:
    case 401:
    case 403:
      return "check the credentials, their rights and the region, see "
             "docs/cloud.md";
    case 404:
      return "check the URL";
    default:
      return IsTransient(status) ? "run again later" : "see docs/cloud.md";
  }
}

[[noreturn]] void Fail(const RetriedRequest& request,
                       const HttpResponse& response, const std::string& reason,
                       int attempts) {
  throw IoError(UrlForMessages(request.url) + ": cannot " + request.action +
                ": " + OneLine(reason) + ", after " + std::to_string(attempts) +
                (attempts == 1 ? " attempt" : " attempts") + " (" +
                std::string(AdviceFor(response.status)) + ")");
}

// A random time up to a bound that doubles with each attempt: clients that
// failed at the same time do not retry at the same time.
milliseconds Jitter(const RetryPolicy& policy, int attempt) {
  thread_local std::minstd_rand random(std::random_device{}());
  const std::int64_t bound = std::min(
      policy.max_delay.count(), policy.first_delay.count()
                                    << std::min(attempt - 1, kMaxDoublings));
  return milliseconds(
      std::uniform_int_distribution<std::int64_t>(0, bound)(random));
}

// The wait that Retry-After requests, in seconds; a date is ignored.
milliseconds RetryAfter(const HttpResponse& response,
                        const RetryPolicy& policy) {
  const auto seconds =
      ParsePlainNumber<std::int64_t>(response.header("retry-after"));
  if (!seconds || *seconds < 0) {
    return milliseconds(0);
  }
  const std::int64_t most = policy.max_retry_after.count();
  return milliseconds(*seconds > most / 1000 ? most : *seconds * 1000);
}

void Wait(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  (void)never.wait_for(lock, stop, time, [] { return false; });
}

// A stop request by either of two tokens.
class EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : of_one_(one, Request{source_}), of_other_(other, Request{source_}) {}

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Request> of_one_;
  std::stop_callback<Request> of_other_;
};

void ThrowIfStopped(const std::stop_token& stop) {
  if (stop.stop_requested()) {
    throw StoppedError();
  }
}

Clock::duration TimeAllowed(const RetryPolicy& policy,
                            const HttpRequest& request) {
  return policy.deadline + std::chrono::seconds((request.body.size() +
                                                 request.destination.size()) /
                                                kBytesPerSecond);
}

}  // namespace

HttpResponse SendWithRetries(const HttpClient& client,
                             const RetriedRequest& request,
                             const RetryPolicy& policy) {
  const Clock::time_point start = Clock::now();
  bool fresh_connection = false;
  for (int attempt = 1;; ++attempt) {
    ThrowIfStopped(policy.stop);
    HttpRequest http = request.make();
    const EitherStop stop(policy.stop, http.stop);
    http.stop = stop.token();
    const Clock::time_point end = start + TimeAllowed(policy, http);
    http.fresh_connection = fresh_connection;
    http.timeout = std::max(std::chrono::ceil<milliseconds>(end - Clock::now()),
                            milliseconds(1));
    HttpResponse response = client.Send(http);
    const HttpVerdict verdict = Judge(request, response);
    if (verdict.kind == Kind::kDone) {
      return response;
    }
    ThrowIfStopped(policy.stop);
    const milliseconds wait =
        std::max(Jitter(policy, attempt), RetryAfter(response, policy));
    if (verdict.kind == Kind::kFail || attempt >= policy.attempts ||
        Clock::now() + wait >= end) {
      Fail(request, response, verdict.reason, attempt);
    }
    // The answer was unusable, and more of it may still arrive on its
    // connection.
    fresh_connection = response.status == 0 || IsSuccess(response.status);
    Wait(wait, http.stop);
  }
}

}  // namespace infeed
