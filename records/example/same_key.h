#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace infeed {

// Whether the first and the last bytes of two texts are equal, as many as a
// Word has.
template <typename Word>
[[nodiscard]] bool HaveSameEnds(std::string_view one, std::string_view other) {
  const auto differ = [&](std::size_t at) {
    Word words[2] = {};
    std::memcpy(&words[0], &one[at], sizeof(Word));
    std::memcpy(&words[1], &other[at], sizeof(Word));
    return words[0] ^ words[1];
  };
  return (differ(0) | differ(one.size() - sizeof(Word))) == 0;
}

// A call of memcmp() for a key of a few bytes takes longer.
[[nodiscard]] inline bool IsSameKey(std::string_view one,
                                    std::string_view other) {
  const std::size_t size = one.size();
  return size != other.size()    ? false
         : size < 4 || size > 16 ? one == other
         : size < 8              ? HaveSameEnds<std::uint32_t>(one, other)
                                 : HaveSameEnds<std::uint64_t>(one, other);
}

}  // namespace infeed
