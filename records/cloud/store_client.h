#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "records/cloud/cloud_settings.h"
#include "records/http/cloud_credentials.h"
#include "records/http/http_client.h"
#include "records/http/http_retry.h"
#include "records/http/url.h"

namespace infeed {

// One request to a store, without credentials.
struct StoreOperation {
  std::string action{};  // for messages: "read"
  Url url{};
  std::string shown{};  // for messages; url where it is ""
  std::string query{};
  HttpRequest http{};  // without its URL
  // As RetriedRequest::judge.
  std::function<std::optional<HttpVerdict>(const HttpResponse&)> judge{};
  // Sent after RetryPolicy::stop too, once and not for long.
  bool tidies_up = false;
};

// Sends requests to object stores and web servers, with what proves who we are
// at each. Credentials and endpoints are found when a scheme is first used.
//
// Owns the connections. Thread-safe. Throws IoError, and UsageError for
// credentials that contradict themselves or must not be sent.
class StoreClient {
 public:
  explicit StoreClient(const CloudSettings& settings)
      : retry_(settings.retry), client_(settings.http) {}

  [[nodiscard]] HttpResponse Run(const StoreOperation& operation) const;

 private:
  [[nodiscard]] CloudAccess AccessTo(UrlScheme scheme) const;
  [[nodiscard]] RetryPolicy PolicyOf(const StoreOperation& operation) const;

  RetryPolicy retry_;
  HttpClient client_;
  mutable std::mutex mutex_;
  mutable std::map<UrlScheme, CloudAccess> access_;
};

// Takes an answer 200 whose body a function parses; what that throws as
// DataError is a reason to ask again: the answer may have been cut short.
[[nodiscard]] std::optional<HttpVerdict> RetryUnlessParsed(
    const HttpResponse& response, const std::function<void()>& parse);

}  // namespace infeed
