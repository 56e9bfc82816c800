#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/pixels/image.h"
#include "preprocess/resize/side.h"

// Bilinear resize with antialiasing, as Pillow's Image.resize(BILINEAR) of
// 8-bit images, to the byte; torchvision's transforms of Pillow images are
// that. An output sample is the mean of source samples, weighted by a triangle
// around its centre. On each side the triangle is one sample wide, or as wide
// as the scale if the image gets smaller.
//
// In fixed point, horizontally first: weights in 2^-22, and each pass rounds
// half up to whole levels, clamped to 0..255.
namespace infeed {

constexpr int kAntialiasBits = 22;
// Added to a pass's sums before they are truncated to whole levels.
constexpr std::int32_t kAntialiasOffset = 1 << (kAntialiasBits - 1);
// Vector code multiplies 16 bits: weight = high * 2^11 + low. The clamps to 255
// are for accumulated rounding of weights, with more than 16,448 samples.
constexpr int kAntialiasLowBits = 11;

// The source samples of one output sample: weights.size() samples from first
// on, all inside the image. Weights are 0..2^22; their sum is 2^22 except for
// rounding.
struct AntialiasTaps {
  int first;
  std::span<const std::int32_t> weights;
};

// Computes the taps of a row or column that is resized from in_size to out_size
// samples. Owns the taps that it returned last. One thread at a time.
class AntialiasAxis {
 public:
  // Requires: sizes > 0.
  AntialiasAxis(int in_size, int out_size) { Set(in_size, out_size); }

  // Sets new sizes and keeps the memory.
  void Set(int in_size, int out_size);

  // The source samples of an output. Requires: 0 <= out_index < out_size.
  [[nodiscard]] ResizeSpan Support(int out_index) const;

  // Valid until the next call. Requires: 0 <= out_index < out_size.
  [[nodiscard]] AntialiasTaps At(int out_index);

  // An upper bound of an output's number of taps.
  [[nodiscard]] int max_taps() const;

 private:
  [[nodiscard]] double Centre(int out_index) const;

  int in_size_ = 1;
  double scale_ = 1;
  double support_ = 1;
  std::vector<double> parts_;
  std::vector<std::int32_t> weights_;
};

// Resize() of resize.h with this kernel.
void ResizeAntialias(const RgbView& source, int width, int height,
                     std::span<std::uint32_t> destination);

// Rounds a sum at the end of a pass.
[[nodiscard]] constexpr std::int32_t RoundToByte(std::int32_t sum) {
  const std::int32_t level = (sum + kAntialiasOffset) >> kAntialiasBits;
  return level > 255 ? 255 : level;
}

// The parts of a weight.
[[nodiscard]] constexpr std::int16_t HighPart(std::int32_t weight) {
  return static_cast<std::int16_t>(weight >> kAntialiasLowBits);
}
[[nodiscard]] constexpr std::int16_t LowPart(std::int32_t weight) {
  return static_cast<std::int16_t>(weight & ((1 << kAntialiasLowBits) - 1));
}

}  // namespace infeed
