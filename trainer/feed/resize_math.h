#pragma once

#include <cstddef>
#include <cstdint>

#include "preprocess/pixels/pack.h"
#include "preprocess/resize/four_taps.h"
#include "preprocess/resize/side.h"
#include "trainer/feed/pixel_math.h"

// Resizes packed pixels, one output pixel at a time, with the same bytes as
// Resize() (preprocess/resize/resize.h). For kernels; the CPU computes the same
// bits.
namespace infeed {

// FourTapAxis::At(), without its table. Requires: as FourTapAxis.
[[nodiscard]] constexpr FourTaps TapsAt(ResizeKernel kernel, int in_size,
                                        int out_size, int out_index) {
  if (kernel == ResizeKernel::kBilinear) {
    return BilinearTaps(out_index, static_cast<double>(in_size) / out_size,
                        in_size - 1);
  }
  const BicubicPlace place = BicubicPlaceOf(
      out_index, static_cast<float>(in_size) / static_cast<float>(out_size),
      in_size - 1);
  return {.first = place.whole - 1, .weight = BicubicWeights(place.step)};
}

[[nodiscard]] constexpr int Inside(int index, int size) {
  return index < 0 ? 0 : index < size ? index : size - 1;
}

// An output pixel, from width x height packed pixels, rows without gaps.
[[nodiscard]] constexpr std::uint32_t ResizedPixel(const std::uint32_t* pixels,
                                                   int width, int height,
                                                   const FourTaps& rows,
                                                   const FourTaps& columns) {
  std::int32_t levels[3] = {};
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t* const row =
        pixels + std::ptrdiff_t{Inside(rows.first + i, height)} * width;
    std::int32_t sums[3] = {};
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t pixel = row[Inside(columns.first + k, width)];
      for (int channel = 0; channel < 3; ++channel) {
        sums[channel] += columns.weight[k] *
                         static_cast<std::int32_t>(LevelOf(pixel, channel));
      }
    }
    for (int channel = 0; channel < 3; ++channel) {
      levels[channel] += rows.weight[i] * RoundToRow(sums[channel]);
    }
  }
  return PackPixel(RoundToLevel(levels[0]), RoundToLevel(levels[1]),
                   RoundToLevel(levels[2]));
}

}  // namespace infeed
