#include "base/environment.h"

#include <cstdlib>

namespace infeed {

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr || *value == '\0'
               ? std::nullopt
               : std::optional<std::string>(value);
  };
}

}  // namespace infeed
