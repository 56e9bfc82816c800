#pragma once

#include <cstdint>

#include "preprocess/pixels/image.h"

namespace infeed {

// Source samples per output sample, rounded as OpenCV rounds it.
[[nodiscard]] inline double AreaScale(int in_size, int out_size) {
  return 1 / (static_cast<double>(out_size) / in_size);
}

// Rounds to the nearest level, half to even. Requires: |value| < 2^22.
[[nodiscard]] inline std::uint8_t NearestLevel(float value) {
  // At this size a float has no fraction bits left.
  constexpr float kWhole = 3 << 22;
  const float whole = (value + kWhole) - kWhole;
  return static_cast<std::uint8_t>(whole < 0 ? 0 : whole > 255 ? 255 : whole);
}

// Resizes by four taps a side, weighted by the cubic of a = -3/4, whatever the
// scale. The image has its size already. Requires: sizes > 0.
void ResizeCubic(const RgbView& source, RgbImage& image);

// Resizes an image to width x height pixels: to a smaller size by the mean of
// the area that a pixel covers; bicubic if a side gets larger (ResizeCubic()).
// The bytes are those of OpenCV's cv::resize on x86-64 with INTER_AREA and
// INTER_CUBIC. Requires: all sizes > 0.
void ResizeArea(const RgbView& source, int width, int height, RgbImage& image);

}  // namespace infeed
