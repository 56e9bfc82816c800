#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace infeed {

// Returns the value of an environment variable; nullopt if not set or empty.
using Environment =
    std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process.
[[nodiscard]] Environment ProcessEnvironment();

// The machine's name, cut to 255 bytes; "localhost" if it has none.
[[nodiscard]] std::string HostName();

// The processor's name; "unknown" where the kernel does not report it. root:
// the folder of /proc.
[[nodiscard]] std::string ProcessorName(const std::string& root = "");

// Whether two tokens, which processes get from their environment, are equal, in
// a time that does not depend on where they differ, so that a stranger cannot
// find a token character by character.
[[nodiscard]] inline bool IsSameToken(std::string_view one,
                                      std::string_view other) {
  if (one.size() != other.size()) {
    return false;
  }
  int different = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    different |= one[i] ^ other[i];
  }
  return different == 0;
}

}  // namespace infeed
