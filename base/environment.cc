#include "base/environment.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

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

std::string ProcessorName(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace infeed
