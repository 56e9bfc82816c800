#include "records/http/url.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::array<std::pair<std::string_view, UrlScheme>, 4> kSchemes = {
    {{"http", UrlScheme::kHttp},
     {"https", UrlScheme::kHttps},
     {"s3", UrlScheme::kS3},
     {"gs", UrlScheme::kGs}}};
constexpr std::string_view kSeparator = "://";
constexpr int kMaxPort = 65535;

// std::isdigit() depends on the locale.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The text before "://", in lower case; "" when there is none.
std::string SchemeName(std::string_view text) {
  const std::size_t end = text.find(kSeparator);
  return end == std::string_view::npos ? "" : LowerCase(text.substr(0, end));
}

[[noreturn]] void Refuse(std::string_view url, std::string_view why) {
  throw UsageError("'" + ShownText(url) +
                   "': not a URL of a shard: " + std::string(why));
}

UrlScheme ParseScheme(std::string_view text) {
  const std::string name = SchemeName(text);
  for (const auto& [known, scheme] : kSchemes) {
    if (name == known) {
      return scheme;
    }
  }
  Refuse(text, "it must start with s3://, gs://, https:// or http://");
}

bool IsBucketName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.';
  });
}

bool IsPort(std::string_view digits) {
  const auto port = ParsePlainNumber<int>(digits);
  return port && *port > 0 && *port <= kMaxPort;
}

// "name", "1.2.3.4" or "[::1]", optionally with ":PORT".
bool IsHost(std::string_view host) {
  std::string_view name = host.substr(0, host.rfind(':'));
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) {
      return false;
    }
    const std::string_view address = host.substr(1, end - 1);
    const std::string_view rest = host.substr(end + 1);
    return !address.empty() &&
           address.find_first_not_of("0123456789abcdef:.") ==
               std::string_view::npos &&
           (rest.empty() || (rest[0] == ':' && IsPort(rest.substr(1))));
  }
  return !name.empty() && IsBucketName(name) &&
         (name.size() == host.size() || IsPort(host.substr(name.size() + 1)));
}

// Whether text may be sent as a path or query.
bool IsSendable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7F &&
           std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
  });
}

Url ParseHttp(std::string_view text, std::string_view rest, Url url) {
  const std::size_t end = rest.find_first_of("/?#");
  const std::string_view host = rest.substr(0, end);
  rest.remove_prefix(host.size());
  if (host.find('@') != std::string_view::npos) {
    Refuse(text, "it holds a user name; see docs/cloud.md for credentials");
  }
  url.host = LowerCase(host);
  if (!IsHost(url.host)) {
    Refuse(text, "its host is missing or invalid");
  }
  if (rest.find('#') != std::string_view::npos) {
    Refuse(text, "it has a '#', which must be written as %23");
  }
  if (!IsSendable(rest)) {
    Refuse(text, "it has a character that must be percent-encoded");
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  url.path = rest.substr(0, question);
  if (url.path.empty()) {
    url.path = "/";
  }
  (void)PercentDecode(url.path);
  url.query = rest.substr(std::min(question + 1, rest.size()));
  return url;
}

Url ParseBucket(std::string_view text, std::string_view rest, Url url) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.host = rest.substr(0, slash);
  url.path = rest.substr(std::min(slash + 1, rest.size()));
  if (url.host.empty() || !IsBucketName(url.host)) {
    Refuse(text, "its bucket is missing or invalid");
  }
  return url;
}

}  // namespace

Url ParseUrl(std::string_view text) {
  if (HasControl(text)) {
    Refuse(text, "it has control characters");
  }
  Url url;
  url.scheme = ParseScheme(text);
  const std::string_view rest =
      text.substr(text.find(kSeparator) + kSeparator.size());
  return IsBucketScheme(url.scheme) ? ParseBucket(text, rest, std::move(url))
                                    : ParseHttp(text, rest, std::move(url));
}

Url ParseWritableUrl(const std::string& text) {
  Url url = ParseUrl(text);
  if (!IsBucketScheme(url.scheme) || url.path.empty()) {
    throw UsageError(UrlForMessages(text) +
                     ": cannot be written (give s3://BUCKET/NAME or "
                     "gs://BUCKET/NAME)");
  }
  return url;
}

std::string FormatUrl(const Url& url) {
  std::string text;
  for (const auto& [name, scheme] : kSchemes) {
    if (scheme == url.scheme) {
      text = name;
    }
  }
  text.append(kSeparator).append(url.host);
  if (IsBucketScheme(url.scheme)) {
    return text.append("/").append(url.path);
  }
  text.append(url.path);
  return url.query.empty() ? text : text.append("?").append(url.query);
}

std::string PercentEncode(std::string_view bytes, Slashes slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const bool kept = c == '/' && slashes == Slashes::kKeep;
    if (kept || IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_' ||
        c == '~') {
      text.push_back(c);
      continue;
    }
    const auto value = static_cast<unsigned char>(c);
    text.push_back('%');
    text.push_back(kDigits[value >> 4]);
    text.push_back(kDigits[value & 0xF]);
  }
  return text;
}

std::string PercentDecode(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes.push_back(text[i]);
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const auto value = ParsePlainNumber<unsigned>(digits, 16);
    if (digits.size() < 2 || !value) {
      throw UsageError("'" + UrlForMessages(text) +
                       "': a '%' must be followed by two hex digits");
    }
    bytes.push_back(static_cast<char>(*value));
    i += 2;
  }
  return bytes;
}

bool IsLoopback(std::string_view host) {
  if (host.starts_with("[::1]")) {
    return true;
  }
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "localhost" ||
         (name.starts_with("127.") &&
          name.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace infeed
