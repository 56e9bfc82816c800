#include "records/secrets_guard.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "records/url.h"

namespace infeed {
namespace {

constexpr std::string_view kSeparator = "://";
constexpr std::string_view kUrlEnds = " \t\r\n\"'";

// Where a "?" is part of a key.
bool EndsWithBucketScheme(std::string_view text) {
  return text.ends_with("s3") || text.ends_with("gs");
}

}  // namespace

std::string EnvironmentValue(const char* name) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return "";
  }
  const std::string_view text(value);
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? ""
             : std::string(text.substr(
                   first, text.find_last_not_of(kBlanks) - first + 1));
}

std::string WithoutUrlSecrets(std::string_view text) {
  std::string shown(text);
  for (std::size_t at = shown.find(kSeparator); at != std::string::npos;
       at = shown.find(kSeparator, at + 1)) {
    const std::size_t host = at + kSeparator.size();
    if (!EndsWithBucketScheme(std::string_view(shown).substr(0, at))) {
      const std::size_t end =
          std::min(shown.find_first_of(kUrlEnds, host), shown.size());
      const std::size_t query = shown.find_first_of("?#", host);
      if (query < end) {
        shown.replace(query, end - query, "?...");
      }
    }
    const std::size_t host_end =
        shown.find_first_of(std::string(kUrlEnds) + "/?#", host);
    const std::size_t user_end =
        std::string_view(shown).substr(0, host_end).rfind('@');
    if (user_end != std::string::npos && user_end >= host) {
      shown.erase(host, user_end + 1 - host);
    }
  }
  return shown;
}

bool IsSecretName(std::string_view name) {
  constexpr std::string_view kWords[] = {"TOKEN", "SECRET", "PASS", "KEY",
                                         "CREDENTIAL"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

void CheckMaySendSecrets(std::string_view request_url) {
  const Url url = ParseUrl(request_url);
  if (url.scheme == UrlScheme::kHttps || IsLoopback(url.host) ||
      EnvironmentValue("INFEED_ALLOW_HTTP_CREDENTIALS") == "1") {
    return;
  }
  throw UsageError(UrlForMessages(request_url) +
                   ": credentials are not sent over plain http, where all on "
                   "the way can read them (use https, or set "
                   "INFEED_ALLOW_HTTP_CREDENTIALS=1)");
}

}  // namespace infeed
