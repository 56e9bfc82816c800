#include "records/http/secrets_guard.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/http/url.h"

namespace infeed {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kUrlEnds = " \t\r\n\"'";

bool IsSchemeChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

// Whether the URL has a query that UrlForMessages() omits; in some URLs a "?"
// is part of the key.
bool HasQuery(std::string_view url) {
  const std::size_t query = url.find_first_of("?#");
  return query != std::string_view::npos &&
         UrlForMessages(url).find_first_of("?#") == std::string::npos;
}

// Where the URL begins whose "://" stands at a place.
std::size_t StartOfUrl(std::string_view text, std::size_t separator) {
  std::size_t start = separator;
  while (start > 0 && IsSchemeChar(text[start - 1])) {
    --start;
  }
  return start;
}

// Where a URL in text ends: at a blank or a quote, or where the next URL
// begins, unless that is part of its query.
std::size_t EndOfUrl(std::string_view text, std::size_t separator) {
  const std::size_t path = separator + kSchemeEnd.size();
  const std::size_t end =
      std::min(text.find_first_of(kUrlEnds, path), text.size());
  const std::size_t next = text.find(kSchemeEnd, path);
  if (next >= end) {
    return end;
  }
  const std::size_t next_start = std::max(path, StartOfUrl(text, next));
  const std::size_t start = StartOfUrl(text, separator);
  return HasQuery(text.substr(start, next_start - start)) ? end : next_start;
}

}  // namespace

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : std::string(Trimmed(value));
}

std::string WithoutUrlSecrets(std::string_view text) {
  std::string shown;
  std::size_t done = 0;
  for (std::size_t at = text.find(kSchemeEnd); at != std::string_view::npos;
       at = text.find(kSchemeEnd, done)) {
    const std::size_t start = std::max(done, StartOfUrl(text, at));
    const std::string_view url = text.substr(start, EndOfUrl(text, at) - start);
    shown.append(text.substr(done, start - done)).append(UrlForMessages(url));
    shown.append(HasQuery(url) ? "?..." : "");
    done = start + url.size();
  }
  return shown.append(text.substr(done));
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
                   ": credentials are not sent over plain http, where others "
                   "can read them (use https, or set "
                   "INFEED_ALLOW_HTTP_CREDENTIALS=1)");
}

}  // namespace infeed
