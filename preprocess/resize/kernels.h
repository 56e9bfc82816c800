#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "preprocess/pixels/pixel_hash.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/four_taps.h"

// The two passes of a four-tap resize, and of an antialiased one, with the
// CPU's best instruction set (simd_target.h). preprocess/resize/four_taps.h and
// antialias.h describe the arithmetic.
namespace infeed {

// Sixteen pixels of the four rows kept between the passes, by R G B, with two
// rows' values of a sample next to each other. pairs[0] has rows 0 and 1,
// pairs[1] has rows 2 and 3.
struct alignas(64) RowsGroup {
  std::array<std::array<std::array<std::int16_t, 32>, 3>, 2> pairs;
};

// How many bytes the first pass may read behind a row's last pixel.
constexpr int kResizeRowSlack = 80;

// Where the second pass writes a row of packed pixels. Its width is at most
// that of the rows between the passes. Call FinishPixels() before passing the
// pixels to another thread.
struct PixelRow {
  std::span<std::uint32_t> pixels;
  bool cached = false;        // stays in the caches; else may be past them
  PixelHash* hash = nullptr;  // takes the pixels, too, which are whole parts

  void AddToHash() const {
    if (hash != nullptr) {
      hash->Add(std::as_bytes(pixels));
    }
  }
};

// Takes R G B bytes apart.
void SplitRow(const std::uint8_t* rgb, int width, const PlanesRow& row);

// Computes row `slot`, 0..3, of the rows between the passes from a row, which a
// copy of its first pixel precedes and two of its last pixel follow. Requires:
// rows has as many groups as columns.
void BlendColumns(const PlanesRow& row, const ResizeColumns& columns, int slot,
                  RowsGroup* rows);

// Writes the weighted sum of the four rows.
void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights, const PixelRow& row);

// The bicubic taps of neighbouring outputs, from out_first on, as FourTapAxis
// computes them. scale and last: as in BicubicPlaceOf().
void BicubicTaps(int out_first, float scale, int last,
                 std::span<FourTaps> taps);

// A store fence: orders BlendRows()'s stores before this thread's later ones.
void FinishPixels();

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

// Writes the sum of the weighted rows. Requires: each pair has a multiple of
// four groups.
void SumRows(std::span<const WeightedPair> pairs, const PixelRow& row);

}  // namespace infeed
