#include "records/http/secrets_guard.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/http/url.h"

namespace infeed {
std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : std::string(Trimmed(value));
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
