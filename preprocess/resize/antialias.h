#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/pixels/image.h"
#include "preprocess/resize/side.h"

// Bilinear resize with antialiasing, as Pillow's Image.resize(BILINEAR) of
// 8-bit images, to the byte; torchvision's transforms of Pillow images are
// that. An output sample is the mean of the source's under a triangle about its
// centre, which is a sample wide on each side, or the scale where the image
// gets smaller.
//
// In fixed point, horizontally first: weights in 2^-22, and each pass rounds
// half up to whole levels, clamped to 0..255.
namespace infeed {

constexpr int kAntialiasBits = 22;
// What a pass adds to its sums before it cuts them to whole levels.
constexpr std::int32_t kAntialiasOffset = 1 << (kAntialiasBits - 1);
// Vector code multiplies 16 bits: weight = high * 2^11 + low. The clamps to 255
// are for weights whose roundings add up, of more than 16,448 samples.
constexpr int kAntialiasLowBits = 11;

// The source samples that one output sample is made of: weights.size() of them
// from first on, all inside. Weights are 0..2^22 and sum to 2^22 but for their
// rounding.
struct AntialiasTaps {
  int first;
  std::span<const std::int32_t> weights;
};

// Where the samples of a row or column come from when in_size of them become
// out_size. Owns the taps that it returned last. One thread at a time.
class AntialiasAxis {
 public:
  // Requires: sizes > 0.
  AntialiasAxis(int in_size, int out_size) { Set(in_size, out_size); }

  // The same, keeping the memory.
  void Set(int in_size, int out_size);

  // Which samples an output has taps of. Requires: 0 <= out_index < out_size.
  [[nodiscard]] ResizeSupport Support(int out_index) const;

  // Valid until the next call. Requires: 0 <= out_index < out_size.
  [[nodiscard]] AntialiasTaps At(int out_index);

  // At least the most taps that an output has.
  [[nodiscard]] int max_taps() const;

 private:
  [[nodiscard]] double Centre(int out_index) const;

  int in_size_ = 1;
  double scale_ = 1;
  double support_ = 1;
  std::vector<double> parts_;
  std::vector<std::int32_t> weights_;
};

// Resize() of resize.h, by this kernel.
void ResizeAntialias(const RgbView& source, int width, int height,
                     std::span<std::uint32_t> destination);

// The end of a pass.
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
