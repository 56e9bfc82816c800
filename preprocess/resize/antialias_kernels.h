#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "preprocess/resize/antialias_columns.h"

// The two passes of an antialiased resize, with the CPU's best instruction set
// (simd_target.h). preprocess/resize/antialias.h describes the arithmetic.
namespace infeed {

// Four pixels of two neighbouring rows between the passes: samples 0 B G R of
// each pixel, with the upper and the lower row's level of each sample.
struct alignas(64) RowPairGroup {
  std::array<std::int16_t, 32> levels;
};

// A pair of rows between the passes, and the rows' weights in an output row:
// two high parts, and two low parts.
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

// Writes `size` packed pixels: the sum of the weighted rows. Call
// FinishPixels() (kernels.h) before passing the pixels to another thread.
// Requires: each pair has a multiple of four groups, and at least size pixels.
void SumRows(std::span<const WeightedPair> pairs, int size,
             std::uint32_t* pixels);

}  // namespace infeed
