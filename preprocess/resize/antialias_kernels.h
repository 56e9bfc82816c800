#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "preprocess/resize/antialias_columns.h"

// The two passes of an antialiased resize, for the best of the CPU's
// instruction sets (simd_target.h). preprocess/resize/antialias.h has their
// arithmetic.
namespace infeed {

// Four pixels of two neighbouring rows between the passes: samples 0 B G R of a
// pixel, of each sample the upper row's level and the lower row's.
struct alignas(64) RowPairGroup {
  std::array<std::int16_t, 32> levels;
};

// A pair of rows between the passes, and what its rows weigh in an output row:
// the two high parts of the weights, and the two low ones.
struct WeightedPair {
  const RowPairGroup* rows;
  std::array<std::int16_t, 2> high;
  std::array<std::int16_t, 2> low;
};

// Computes a pair of rows between the passes from two rows of R G B bytes.
// Requires: columns.slack() bytes may be read behind each, and pair has as many
// groups as columns.
void BlendTaps(const std::uint8_t* upper, const std::uint8_t* lower,
               const AntialiasColumns& columns, RowPairGroup* pair);

// Writes `size` packed pixels: the sum of the weighted rows. FinishPixels()
// (kernels.h) comes before anything that tells another thread of them.
// Requires: each pair has a multiple of four groups, and size pixels at least.
void SumRows(std::span<const WeightedPair> pairs, int size,
             std::uint32_t* pixels);

}  // namespace infeed
