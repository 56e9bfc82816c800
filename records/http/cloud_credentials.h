#pragma once

#include <functional>
#include <optional>
#include <string>

#include "records/http/http_client.h"
#include "records/http/options.h"
#include "records/http/sigv4.h"
#include "records/http/url.h"

// Credentials and endpoints of stores, from the usual environment variables and
// files, which docs/cloud.md lists.
namespace infeed {

// How to reach the objects of one scheme: with keys, with tokens, or without
// credentials.
struct CloudAccess {
  std::optional<AwsKeys> keys{};
  // The bearer token to send now; thread-safe. Empty: none.
  std::function<std::string()> token{};
  SigV4Scope scope{};
  // "https://s3.eu-west-1.amazonaws.com", without a "/" at its end; "" for
  // http(s), whose URLs contain it.
  std::string endpoint{};
  // ENDPOINT/BUCKET/KEY rather than BUCKET.ENDPOINT/KEY.
  bool path_style = true;
};

// Throws UsageError for a variable or file that contradicts itself (an access
// key without its secret, an unknown AWS_PROFILE, a bad endpoint) and IoError
// for a file that cannot be read; messages never contain a secret. client
// fetches Google's tokens and must outlive the result.
[[nodiscard]] CloudAccess FindCloudAccess(UrlScheme scheme,
                                          const HttpClient& client,
                                          const RetryPolicy& retry = {});

// The URL to request for an object, or for a bucket when the key is "".
[[nodiscard]] std::string RequestUrl(const CloudAccess& access, const Url& url,
                                     const std::string& query = "");

// Returns request.headers with the credentials' headers added. Throws
// UsageError when they must not be sent over plain http.
[[nodiscard]] HttpHeaders AuthorizedHeaders(const CloudAccess& access,
                                            const HttpRequest& request,
                                            SigV4Time now);

}  // namespace infeed
