#pragma once

#include <string>
#include <string_view>

// What stands between credentials and those who must not see them.
namespace infeed {

// An environment variable without blanks and line ends around it; "" when it
// is not set.
[[nodiscard]] std::string EnvironmentValue(const char* name);

// The text with each URL in it without user name, password and query: "?..."
// stands for everything from its "?" to a blank, a quote or the text's end.
[[nodiscard]] std::string WithoutUrlSecrets(std::string_view text);

// Whether a variable of this name holds something that nobody else should see.
[[nodiscard]] bool IsSecretName(std::string_view name);

// Refuses to send secrets over plain http to another machine, unless
// INFEED_ALLOW_HTTP_CREDENTIALS=1. Throws UsageError saying so.
void CheckMaySendSecrets(std::string_view request_url);

}  // namespace infeed
