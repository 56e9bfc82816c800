#pragma once

#include <string>
#include <string_view>

// The URLs of shards: s3://BUCKET/KEY, gs://BUCKET/KEY, http(s)://HOST/PATH.
namespace infeed {

enum class UrlScheme { kHttp, kHttps, kS3, kGs };

// Whether objects lie in buckets, that can be listed and written.
[[nodiscard]] constexpr bool IsBucketScheme(UrlScheme scheme) {
  return scheme == UrlScheme::kS3 || scheme == UrlScheme::kGs;
}

struct Url {
  UrlScheme scheme = UrlScheme::kHttps;
  // The bucket; of http(s) the host, in lower case, and ":PORT" if given.
  std::string host{};
  // Of s3 and gs the object's key, byte for byte ("" for a bucket); of http(s)
  // the path from its "/" on, percent-encoded as it was given.
  std::string path{};
  std::string query{};  // of http(s), without the "?"

  bool operator==(const Url&) const = default;
};

// Throws UsageError naming the URL when the scheme is none of these, the host
// or bucket is missing or has characters that none can have, there are control
// characters, or user names and fragments, which are not for shards.
[[nodiscard]] Url ParseUrl(std::string_view text);
// The same for what is to be written: an object in a bucket.
[[nodiscard]] Url ParseWritableUrl(const std::string& text);
[[nodiscard]] std::string FormatUrl(const Url& url);

// The URL fit for messages: without its query, which may hold a signature,
// and without a user's name and password.
[[nodiscard]] std::string UrlForMessages(std::string_view text);

enum class Slashes { kEncode, kKeep };
// RFC 3986: all but letters, digits and "-._~" become %XX.
[[nodiscard]] std::string PercentEncode(std::string_view bytes,
                                        Slashes slashes);
// Throws UsageError when a "%" is not followed by two hex digits.
[[nodiscard]] std::string PercentDecode(std::string_view text);

// Whether a host (and port) is this machine: localhost, 127.0.0.0/8, [::1].
[[nodiscard]] bool IsLoopback(std::string_view host);

}  // namespace infeed
