#pragma once

#include <cstdint>
#include <vector>

namespace infeed {

// Returns the indices 0..count-1 in the order of Python 3's random.seed(seed);
// random.shuffle(list): the order of the reference converter's training images.
// A pure function. Requires: 0 <= count < 2^32.
[[nodiscard]] std::vector<std::int64_t> PythonShuffle(std::int64_t count,
                                                      std::uint64_t seed);

}  // namespace infeed
