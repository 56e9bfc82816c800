#include "records/cloud/store_client.h"

#include <chrono>

#include "base/error.h"

namespace infeed {
namespace {

using Kind = HttpVerdict::Kind;
using Verdict = std::optional<HttpVerdict>;

// Fails with the bucket's region in the message if the store's refusal names
// it.
Verdict JudgeRegion(const HttpResponse& response, const SigV4Scope& scope) {
  const std::string region = response.header("x-amz-bucket-region");
  const bool refused = response.status >= 300 && response.status < 500;
  if (!refused || region.empty() || region == scope.region) {
    return std::nullopt;
  }
  return HttpVerdict{Kind::kFail,
                     "the bucket is in another region (set AWS_REGION=" +
                         region.substr(0, 40) + ")"};
}

}  // namespace

Verdict RetryUnlessParsed(const HttpResponse& response,
                          const std::function<void()>& parse) {
  if (response.status != 200) {
    return std::nullopt;
  }
  try {
    parse();
    return HttpVerdict{};
  } catch (const DataError& error) {
    return HttpVerdict{Kind::kRetry, error.what()};
  }
}

RetryPolicy StoreClient::ChoosePolicy(const StoreOperation& operation) const {
  constexpr std::chrono::seconds kTidyUpTime{3};
  if (!operation.tidies_up || !retry_.stop.stop_requested()) {
    return retry_;
  }
  return {.attempts = 1, .deadline = kTidyUpTime};
}

CloudAccess StoreClient::AccessTo(UrlScheme scheme) const {
  const std::lock_guard lock(mutex_);
  auto found = access_.find(scheme);
  if (found == access_.end()) {
    found =
        access_.emplace(scheme, FindCloudAccess(scheme, client_, retry_)).first;
  }
  return found->second;
}

HttpResponse StoreClient::Run(const StoreOperation& operation) const {
  const CloudAccess access = AccessTo(operation.url.scheme);
  HttpRequest request = operation.http;
  request.url = RequestUrl(access, operation.url, operation.query);
  // Requests the bytes as stored: Google's stores would unpack objects marked
  // as gzip.
  request.headers.emplace_back(
      "Accept-Encoding",
      operation.url.scheme == UrlScheme::kGs ? "gzip" : "identity");
  return SendWithRetries(
      client_,
      {.action = operation.action,
       .url =
           operation.shown.empty() ? FormatUrl(operation.url) : operation.shown,
       .make =
           [&] {
             HttpRequest signed_request = request;
             signed_request.headers = AuthorizedHeaders(
                 access, request, std::chrono::system_clock::now());
             return signed_request;
           },
       .judge = [&](const HttpResponse& response) -> Verdict {
         if (Verdict verdict = JudgeRegion(response, access.scope)) {
           return verdict;
         }
         return operation.judge ? operation.judge(response) : std::nullopt;
       }},
      ChoosePolicy(operation));
}

}  // namespace infeed
