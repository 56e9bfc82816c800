#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/pixels/image.h"
#include "preprocess/resize/side.h"

// Resizes with antialiasing, as Pillow's Image.resize() of 8-bit images with
// BILINEAR and BICUBIC, to the byte; torchvision's transforms of Pillow images
// are that. An output sample is the mean of source samples, weighted by a
// kernel around its centre: a triangle, on each side one sample wide, or as
// wide as the scale if the image gets smaller; or Keys' cubic with a = -0.5,
// twice as wide and in part negative.
//
// In fixed point, horizontally first: weights in 2^-22, and each pass rounds
// half up to whole levels, clamped to 0..255.
namespace infeed {

constexpr int kAntialiasBits = 22;
// Added to a pass's sums before they are truncated to whole levels.
constexpr std::int32_t kAntialiasOffset = 1 << (kAntialiasBits - 1);
// Vector code multiplies 16 bits: weight = high * 2^11 + low, with low >= 0.
constexpr int kAntialiasLowBits = 11;

// The source samples of one output sample: weights.size() samples from first
// on, all inside the image. The sum of the weights is 2^22 except for rounding;
// a cubic's are negative in part, their amounts below 1.5 * 2^22 together.
struct AntialiasTaps {
  int first;
  std::span<const std::int32_t> weights;
};

// Computes the taps of a row or column that is resized from in_size to out_size
// samples. Owns the taps that it returned last. One thread at a time.
class AntialiasAxis {
 public:
  // For one sample. Requires: IsAntialiased(kernel).
  explicit AntialiasAxis(ResizeKernel kernel);
  // Requires: also, sizes > 0.
  AntialiasAxis(ResizeKernel kernel, int in_size, int out_size)
      : AntialiasAxis(kernel) {
    Set(in_size, out_size);
  }

  // Sets new sizes and keeps the memory. Requires: sizes > 0.
  void Set(int in_size, int out_size);

  // The source samples of an output. Requires: 0 <= out_index < out_size.
  [[nodiscard]] ResizeSpan Support(int out_index) const;

  // Valid until the next call. Requires: 0 <= out_index < out_size.
  [[nodiscard]] AntialiasTaps At(int out_index);

  // An upper bound of an output's number of taps.
  [[nodiscard]] int max_taps() const;

 private:
  [[nodiscard]] double Centre(int out_index) const;

  bool is_bicubic_;
  int in_size_ = 1;
  double scale_ = 1;
  double width_ = 1;    // of the kernel's unit, in source samples
  double support_ = 1;  // of each side, in source samples
  std::vector<double> parts_;
  std::vector<std::int32_t> weights_;
};

// Resize() of resize.h with one of these kernels.
void ResizeAntialias(ResizeKernel kernel, const RgbView& source, int width,
                     int height, std::span<std::uint32_t> destination);

// Rounds a sum at the end of a pass.
[[nodiscard]] constexpr std::int32_t RoundToByte(std::int32_t sum) {
  return std::clamp((sum + kAntialiasOffset) >> kAntialiasBits, 0, 255);
}

// The parts of a weight.
[[nodiscard]] constexpr std::int16_t HighPart(std::int32_t weight) {
  return static_cast<std::int16_t>(weight >> kAntialiasLowBits);
}
[[nodiscard]] constexpr std::int16_t LowPart(std::int32_t weight) {
  return static_cast<std::int16_t>(weight & ((1 << kAntialiasLowBits) - 1));
}

}  // namespace infeed
