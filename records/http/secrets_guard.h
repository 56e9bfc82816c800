#pragma once

#include <string>
#include <string_view>

// Keeps credentials out of messages and unencrypted connections.
namespace infeed {

// The value of an environment variable without surrounding blanks and line
// ends; "" if not set.
[[nodiscard]] std::string EnvironmentValue(const char* name);

// Whether a variable of this name holds a secret.
[[nodiscard]] bool IsSecretName(std::string_view name);

// Throws UsageError if secrets would go over plain http to another machine,
// unless INFEED_ALLOW_HTTP_CREDENTIALS=1.
void CheckMaySendSecrets(std::string_view request_url);

}  // namespace infeed
