#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// The place of a parameter in flat buffers. There is a buffer of the weights,
// one of the gradients and one of each average, all with the same layout.
struct FlatParameter {
  std::int64_t begin = 0;  // element; a multiple of kFlatAlignment
  std::int64_t count = 0;  // elements, > 0
  bool decayed = true;     // as in OptimizedParameter
};

// A part of one parameter, for one block of threads.
struct FlatChunk {
  std::int64_t begin = 0;      // element of the flat buffers
  std::int32_t count = 0;      // 1..kFlatChunk
  std::int32_t parameter = 0;  // index
  std::int32_t decayed = 0;    // 0 or 1
  std::int32_t unused = 0;
};

// The chunks for kernels over flat buffers, in the order of the parameters,
// which may have any order and gaps in memory.
struct FlatPlan {
  std::vector<FlatChunk> chunks;
  // The first chunk of each parameter, then the number of chunks.
  std::vector<std::int32_t> first_chunks;
};

// Elements in 16 bytes of float32, which a thread reads at once.
constexpr std::int64_t kFlatAlignment = 4;
constexpr std::int64_t kFlatChunk = 8192;

// `count` rounded up to the alignment, where the next parameter may begin.
[[nodiscard]] constexpr std::int64_t AlignFlat(std::int64_t count) {
  return (count + kFlatAlignment - 1) / kFlatAlignment * kFlatAlignment;
}

// Requires: values as FlatParameter describes them; no two overlap.
[[nodiscard]] FlatPlan MakeFlatPlan(std::span<const FlatParameter> parameters);

}  // namespace infeed
