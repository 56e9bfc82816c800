#pragma once

#include <string>
#include <string_view>

// The URLs of shards: s3://BUCKET/KEY, gs://BUCKET/KEY, http(s)://HOST/PATH.
namespace infeed {

enum class UrlScheme { kHttp, kHttps, kS3, kGs };

// Whether the scheme's objects lie in buckets, which can be listed and written.
[[nodiscard]] constexpr bool IsBucketScheme(UrlScheme scheme) {
  return scheme == UrlScheme::kS3 || scheme == UrlScheme::kGs;
}

struct Url {
  UrlScheme scheme = UrlScheme::kHttps;
  // The bucket; for http(s) the host in lower case, with ":PORT" if given.
  std::string host{};
  // For s3 and gs the object's key, byte for byte ("" for a bucket); for
  // http(s) the path from its "/" on, percent-encoded as given.
  std::string path{};
  std::string query{};  // http(s) only, without "?"

  bool operator==(const Url&) const = default;
};

// Throws UsageError that names the URL if the scheme is unknown, the host or
// bucket is missing or has invalid characters, or the URL has control
// characters, a user name or a fragment.
[[nodiscard]] Url ParseUrl(std::string_view text);
// Parses a URL to write to, which must be an object in a bucket.
[[nodiscard]] Url ParseWritableUrl(const std::string& text);
[[nodiscard]] std::string FormatUrl(const Url& url);

enum class Slashes { kEncode, kKeep };
// RFC 3986: all but letters, digits and "-._~" become %XX.
[[nodiscard]] std::string PercentEncode(std::string_view bytes,
                                        Slashes slashes);
// Throws UsageError when a "%" is not followed by two hex digits.
[[nodiscard]] std::string PercentDecode(std::string_view text);

// Whether a host (and port) is this machine: localhost, 127.0.0.0/8, [::1].
[[nodiscard]] bool IsLoopback(std::string_view host);

}  // namespace infeed
