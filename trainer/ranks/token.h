#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The secret by which rank 0 tells its ranks from strangers.
namespace infeed {

// A longer one is refused: it must fit into a rank's first message.
inline constexpr std::size_t kMaxRankToken = 256;

// 256 random bits of the system's, in hexadecimal. Throws IoError.
[[nodiscard]] std::string MakeRankToken();

// Whether both are equal; takes as long wherever they differ, so that a
// stranger cannot find a token character by character.
[[nodiscard]] bool IsSameToken(std::string_view one, std::string_view other);

}  // namespace infeed
