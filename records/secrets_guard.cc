#include "records/secrets_guard.h"

#include <cstdlib>

#include "base/error.h"
#include "records/url.h"

namespace infeed {

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
