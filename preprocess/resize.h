#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "preprocess/image.h"
#include "preprocess/resize_side.h"

// The kernels of four taps, without antialiasing, edges repeated.
// Bicubic is TensorFlow's legacy one, the reference recipe's: A = -0.75, no
// half-pixel offset, 1,024 steps a pixel. Bilinear has half-pixel centres, as
// OpenCV's INTER_LINEAR and the bilinear resizes of TensorFlow 2 and PyTorch;
// the outer two of its four weights are 0.
//
// In fixed point, horizontally first. The four weights of a sample are in
// 2^-14. A row between the passes holds sums of four products in 1/128 levels,
// rounded half up, less 128 levels so that 16 bits hold them: weights go up to
// 1.1875 and down to -0.1875 of a level, sums of two each, so the sums lie in
// -22,502..22,374. Four such rows, weighted, make a level, rounded half up and
// clamped to 0..255. Products are exact, in 32 bits.
namespace infeed {

constexpr int kResizeWeightBits = 14;
constexpr int kResizeRowBits = 7;

// What a pass adds to its sums before it cuts them to their whole part: a half
// to round, and the bias, which comes back whole as the weights' sum is one.
constexpr std::int32_t kResizeRowShift = kResizeWeightBits - kResizeRowBits;
constexpr std::int32_t kResizeRowOffset =
    (1 << (kResizeRowShift - 1)) - (128 << kResizeWeightBits);
constexpr std::int32_t kResizeLevelShift = kResizeWeightBits + kResizeRowBits;
constexpr std::int32_t kResizeLevelOffset =
    (1 << (kResizeLevelShift - 1)) + (128 << kResizeLevelShift);

// The four source samples that one output sample is made of: first, which may
// be -1, and the three behind it, those outside being copies of the edge. The
// weights sum to exactly 2^14.
struct FourTaps {
  int first;
  alignas(8) std::array<std::int16_t, 4> weight;  // a register of its own
};

// Where the samples of a row or column come from when in_size of them become
// out_size. Bicubic: the coordinate of one is its index * in_size / out_size,
// cut to 1,024 steps a sample. Bilinear: (index + 1/2) * in_size / out_size
// - 1/2, cut to 2^14 steps and to the samples that there are.
class FourTapAxis {
 public:
  // Requires: kernel is one of the two, sizes > 0.
  FourTapAxis(ResizeKernel kernel, int in_size, int out_size);

  // Requires: 0 <= out_index < out_size. Then -1 <= first < in_size.
  [[nodiscard]] FourTaps At(int out_index) const;

 private:
  [[nodiscard]] FourTaps BicubicAt(int out_index) const;
  [[nodiscard]] FourTaps BilinearAt(int out_index) const;

  bool is_bicubic_;
  float scale_;
  double exact_scale_;
  int last_;  // of the source's samples
};

// The ends of the two passes.
[[nodiscard]] constexpr std::int16_t RoundToRow(std::int32_t sum) {
  return static_cast<std::int16_t>((sum + kResizeRowOffset) >> kResizeRowShift);
}
[[nodiscard]] constexpr std::uint32_t RoundToLevel(std::int32_t sum) {
  const std::int32_t level = (sum + kResizeLevelOffset) >> kResizeLevelShift;
  return static_cast<std::uint32_t>(level < 0 ? 0 : level > 255 ? 255 : level);
}

// Resizes an image to width x height pixels and writes them packed,
// R << 24 | G << 16 | B << 8, row by row. Pixel by pixel: this function is not
// fast, it defines the bytes that the kernel's ResizeSink must give on every
// target, and lies within one level of the kernel's formula in floating point.
// Requires: sizes > 0, destination.size() == width * height.
void Resize(ResizeKernel kernel, const RgbView& source, int width, int height,
            std::span<std::uint32_t> destination);

// The same by the bicubic kernel to size x size pixels, mirrored left to right
// where flip is set. Requires: destination.size() == size * size.
void ResizeBicubic(const RgbView& source, int size, bool flip,
                   std::span<std::uint32_t> destination);

}  // namespace infeed
