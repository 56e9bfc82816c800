#pragma once

#include <cstdint>

#include "preprocess/pixels/pixel_statistics.h"

// Arithmetic on pixels for kernels; the CPU computes the same bits.
namespace infeed {

// A channel's value of a packed pixel, R << 24 | G << 16 | B << 8; channel 0 is
// red.
[[nodiscard]] constexpr std::uint32_t LevelOf(std::uint32_t pixel,
                                              int channel) {
  return pixel >> (24 - 8 * channel) & 255U;
}

// Normalizes a channel's value as BatchUnpacker (trainer/loop/batch.h) does, in
// float32.
[[nodiscard]] constexpr float Normalized(std::uint32_t pixel, int channel,
                                         const PixelStatistics& statistics) {
  return (static_cast<float>(LevelOf(pixel, channel)) -
          statistics.mean[channel]) /
         statistics.std[channel];
}

}  // namespace infeed
