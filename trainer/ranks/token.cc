#include "trainer/ranks/token.h"

#include <sys/random.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {

std::string MakeRankToken() {
  // The system gives up to 256 bytes at once.
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    throw IoError("the ranks' token", "get random bytes", errno);
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

bool IsSameToken(std::string_view one, std::string_view other) {
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
