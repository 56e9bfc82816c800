#pragma once

#include <functional>
#include <optional>
#include <string>

namespace infeed {

// The value of an environment variable; nullopt: not set, or empty.
using Environment =
    std::function<std::optional<std::string>(const std::string& name)>;

// This process's own.
[[nodiscard]] Environment ProcessEnvironment();

}  // namespace infeed
