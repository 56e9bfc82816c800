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
  std::string shown{};  // for messages; if "", url is used
  std::string query{};
  HttpRequest http{};  // without its URL
  // As RetriedRequest::judge.
  std::function<std::optional<HttpVerdict>(const HttpResponse&)> judge{};
  // Clean-up: sent even after RetryPolicy::stop, once and with a short limit.
  bool tidies_up = false;
};

// Sends requests to object stores and web servers, with the credentials for
// each. Credentials and endpoints are looked up when a scheme is first used.
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
  [[nodiscard]] RetryPolicy ChoosePolicy(const StoreOperation& operation) const;

  RetryPolicy retry_;
  HttpClient client_;
  mutable std::mutex mutex_;
  mutable std::map<UrlScheme, CloudAccess> access_;
};

// Accepts an answer 200 if `parse` can parse its body. A DataError of `parse`
// means retry: the answer may have been cut short.
[[nodiscard]] std::optional<HttpVerdict> RetryUnlessParsed(
    const HttpResponse& response, const std::function<void()>& parse);

}  // namespace infeed
