#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "preprocess/resize/columns.h"

// The two passes of a bicubic resize, for the best of the CPU's instruction
// sets (simd_target.h). preprocess/resize/resize.h has their arithmetic.
namespace infeed {

// Four pixels of the four rows between the passes that are kept: samples 0 B G
// R of a pixel, of each sample two rows beside each other. pairs[0] has rows 0
// and 1, pairs[1] has rows 2 and 3.
struct alignas(64) RowsGroup {
  std::array<std::array<std::int16_t, 32>, 2> pairs;
};

// How far the first pass may read behind a row's last pixel.
constexpr int kResizeRowSlack = 80;

// Computes row `slot`, 0..3, of the rows between the passes from a row of R G B
// bytes, which has a copy of its first pixel in front and two of its last
// behind. Requires: rows has as many groups as columns.
void BlendColumns(const std::uint8_t* row, const ResizeColumns& columns,
                  int slot, RowsGroup* rows);

// Writes `size` packed pixels: the four rows weighted. FinishPixels() comes
// before anything that tells another thread of them. Requires: rows has a
// multiple of four groups, and size pixels at least.
void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights, int size,
               std::uint32_t* pixels);

// Orders what BlendRows() wrote before what this thread writes from now on.
void FinishPixels();

}  // namespace infeed
