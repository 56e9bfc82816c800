#pragma once

#include <cstdint>
#include <span>

#include "preprocess/pixels/image.h"
#include "preprocess/resize/four_taps.h"
#include "preprocess/resize/side.h"

// Resizes with the four-tap kernels; four_taps.h describes the arithmetic.
namespace infeed {

// Computes the taps of a row or column that is resized from in_size to out_size
// samples. Bicubic: an output's coordinate is its index * in_size / out_size,
// cut to 1,024 steps a sample. Bilinear: (index + 1/2) * in_size / out_size -
// 1/2, cut to 2^14 steps a sample and clamped to the source.
class FourTapAxis {
 public:
  // Requires: kernel is kBicubic or kBilinear, sizes > 0.
  FourTapAxis(ResizeKernel kernel, int in_size, int out_size);

  // Requires: 0 <= out_index < out_size. Then -1 <= first < in_size.
  [[nodiscard]] FourTaps At(int out_index) const;
  // The taps of neighbouring outputs from out_first on, faster.
  void At(int out_first, std::span<FourTaps> taps) const;

 private:
  bool is_bicubic_;
  float scale_;
  double exact_scale_;
  int last_;  // index of the last source sample
};

// Resizes an image to width x height pixels and writes them packed, R << 24 | G
// << 16 | B << 8, row by row. Slow, pixel by pixel: this function defines the
// bytes that the kernel's ResizeSink must give on every target, and is within
// one level of the kernel's formula in floating point. Requires: sizes > 0,
// destination.size() == width * height.
void Resize(ResizeKernel kernel, const RgbView& source, int width, int height,
            std::span<std::uint32_t> destination);

// Resizes with the bicubic kernel to size x size pixels, mirrored left to right
// if flip is set. Requires: destination.size() == size * size.
void ResizeBicubic(const RgbView& source, int size, bool flip,
                   std::span<std::uint32_t> destination);

}  // namespace infeed
