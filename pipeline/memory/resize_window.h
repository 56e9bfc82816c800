#pragma once

#include <cstdint>

namespace infeed {

// A crop window among packed pixels, rows of `width` without gaps, from which
// a device makes an image (preprocess/resize/four_taps.h). 16 bytes: one load.
struct alignas(16) ResizeWindow {
  std::uint32_t offset = 0;  // of its first pixel, in pixels / kWindowAlignment
  std::uint16_t width = 1;
  std::uint16_t height = 1;
  std::uint32_t mirrored = 0;  // 0 or 1: flip left to right after resizing
  std::uint32_t unused = 0;
};

// Pixels: windows begin at multiples of 16 bytes.
constexpr int kWindowAlignment = 4;

}  // namespace infeed
