#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// Where a parameter lies in flat buffers: one of the weights, one of the
// gradients, one of each average, all laid out alike.
struct FlatParameter {
  std::int64_t begin = 0;  // element; a multiple of kFlatAlignment
  std::int64_t count = 0;  // elements, > 0
  bool decayed = true;     // as OptimizedParameter::decayed
};

// A stretch of one parameter, which one block of threads works on.
struct FlatChunk {
  std::int64_t begin = 0;      // element of the flat buffers
  std::int32_t count = 0;      // 1..kFlatChunk
  std::int32_t parameter = 0;  // index
  std::int32_t decayed = 0;    // 0 or 1
  std::int32_t unused = 0;
};

// What kernels over flat buffers are told, in the order of the parameters;
// whatever order those have in memory, and whatever lies between them.
struct FlatPlan {
  std::vector<FlatChunk> chunks;
  // The parameter's first chunk, and behind the last one their number.
  std::vector<std::int32_t> first_chunks;
};

// Elements: 16 bytes of float32, what a thread takes at once.
constexpr std::int64_t kFlatAlignment = 4;
constexpr std::int64_t kFlatChunk = 8192;

// `count` rounded up: where the next parameter may begin.
[[nodiscard]] constexpr std::int64_t AlignFlat(std::int64_t count) {
  return (count + kFlatAlignment - 1) / kFlatAlignment * kFlatAlignment;
}

// Requires: what FlatParameter says, and no two overlap.
[[nodiscard]] FlatPlan MakeFlatPlan(std::span<const FlatParameter> parameters);

}  // namespace infeed
