#pragma once

#include <string>
#include <string_view>

// What stands between credentials and those who must not see them.
namespace infeed {

// An environment variable without blanks and line ends around it; "" when it
// is not set.
[[nodiscard]] std::string EnvironmentValue(const char* name);

// Refuses to send secrets over plain http to another machine, unless
// INFEED_ALLOW_HTTP_CREDENTIALS=1. Throws UsageError saying so.
void CheckMaySendSecrets(std::string_view request_url);

}  // namespace infeed
