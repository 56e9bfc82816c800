#pragma once

#include <functional>
#include <optional>
#include <string>

namespace infeed {

// Returns the value of an environment variable; nullopt if not set or empty.
using Environment =
    std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process.
[[nodiscard]] Environment ProcessEnvironment();

}  // namespace infeed
