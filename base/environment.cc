#include "base/environment.h"

#include <unistd.h>

#include <array>
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

std::string HostName() {
  std::array<char, 256> name{};
  // The last byte stays zero: a name that is too long may be cut without one.
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data()
                                                          : "localhost";
}

}  // namespace infeed
