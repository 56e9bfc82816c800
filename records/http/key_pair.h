#pragma once

#include <string>

namespace infeed {

// Whether a private key belongs to the first of the certificates, both in PEM.
// False also for other texts, and for a key with a password.
[[nodiscard]] bool IsKeyOf(const std::string& key,
                           const std::string& certificates);

}  // namespace infeed
