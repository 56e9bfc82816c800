#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

// The arithmetic of the four-tap kernels, without antialiasing, edges repeated;
// shared by CPU and GPU code. Bicubic is TensorFlow's legacy kernel, used by
// the reference recipe: A = -0.75, no half-pixel offset, 1,024 steps a pixel.
// Bilinear has half-pixel centres, as OpenCV's INTER_LINEAR and the bilinear
// resizes of TensorFlow 2 and PyTorch; the outer two of its four weights are 0.
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

// Added to a pass's sums before they are truncated: a half for rounding, and
// the bias of 128 levels, which the first pass subtracts and the second adds
// back exactly, as the weights' sum is one.
constexpr std::int32_t kResizeRowShift = kResizeWeightBits - kResizeRowBits;
constexpr std::int32_t kResizeRowOffset =
    (1 << (kResizeRowShift - 1)) - (128 << kResizeWeightBits);
constexpr std::int32_t kResizeLevelShift = kResizeWeightBits + kResizeRowBits;
constexpr std::int32_t kResizeLevelOffset =
    (1 << (kResizeLevelShift - 1)) + (128 << kResizeLevelShift);

// Round the sums at the end of the two passes.
[[nodiscard]] constexpr std::int16_t RoundToRow(std::int32_t sum) {
  return static_cast<std::int16_t>((sum + kResizeRowOffset) >> kResizeRowShift);
}
[[nodiscard]] constexpr std::uint32_t RoundToLevel(std::int32_t sum) {
  const std::int32_t level = (sum + kResizeLevelOffset) >> kResizeLevelShift;
  return static_cast<std::uint32_t>(level < 0 ? 0 : level > 255 ? 255 : level);
}

inline constexpr int kTaps = 4;
using FourTapWeights = std::array<std::int16_t, kTaps>;

// The four source samples of one output sample: first, which may be -1, and the
// three behind it; samples outside the image are copies of the edge. The
// weights sum to exactly 2^14.
struct FourTaps {
  int first;
  alignas(8) FourTapWeights weight;  // fits one register
};

constexpr int kBicubicSteps = 1024;  // places between two samples

constexpr int kWeightShift = 32 - kResizeWeightBits;

// A weight in 2^-32, which wraps at one, in fixed point; rounded to even.
[[nodiscard]] constexpr int FixedWeight(std::uint32_t weight) {
  const std::uint32_t is_odd = weight >> kWeightShift & 1;
  constexpr std::uint32_t kHalf = 1U << (kWeightShift - 1);
  return static_cast<int>((weight + kHalf - 1 + is_odd) >> kWeightShift);
}

// As std::lrintf(), but without a function call: near 1.5 * 2^23 the last bit
// of a float has the value one. Requires: 0 <= value < 2^22.
[[nodiscard]] constexpr int RoundToEven(float value) {
  constexpr float kWhole = 12582912;
  return std::bit_cast<std::int32_t>(value + kWhole) -
         std::bit_cast<std::int32_t>(kWhole);
}

// The weights at `step` of kBicubicSteps behind the second of four samples:
// the cubic convolution with A = -3/4, in whole numbers, which are exact.
[[nodiscard]] constexpr FourTapWeights BicubicWeights(int step) {
  const auto x = static_cast<std::uint32_t>(step);
  const std::uint32_t y = kBicubicSteps - x;
  const std::uint32_t far = std::max(x, y);
  // A x (1 - x)^2 at both ends, and (A + 2) x^3 - (A + 3) x^2 + 1.
  const int first = -FixedWeight(3 * x * y * y);
  const int last = -FixedWeight(3 * y * x * x);
  const int less = FixedWeight((5 * far - 9 * kBicubicSteps) * far * far);
  // The largest weight is the rest to one, so that flat areas stay flat.
  const int most = (1 << kResizeWeightBits) - first - last - less;
  return {static_cast<std::int16_t>(first),
          static_cast<std::int16_t>(far == y ? most : less),
          static_cast<std::int16_t>(far == y ? less : most),
          static_cast<std::int16_t>(last)};
}

// The place of an output sample: `step` / kBicubicSteps behind sample `whole`.
struct BicubicPlace {
  int whole;
  int step;
};

// scale: in_size / out_size, as float. last: index of the last source sample.
[[nodiscard]] constexpr BicubicPlace BicubicPlaceOf(int out_index, float scale,
                                                    int last) {
  const float place = static_cast<float>(out_index) * scale;
  // The clamps are only for float rounding at sizes larger than any image.
  const int whole = std::min(static_cast<int>(place), last);
  const float steps = (place - static_cast<float>(whole)) * kBicubicSteps;
  return {.whole = whole, .step = std::min(RoundToEven(steps), kBicubicSteps)};
}

// scale: in_size / out_size, as double. last: index of the last source sample.
[[nodiscard]] constexpr FourTaps BilinearTaps(int out_index, double scale,
                                              int last) {
  constexpr int kOne = 1 << kResizeWeightBits;
  const double place = std::clamp((out_index + 0.5) * scale - 0.5, 0.0,
                                  static_cast<double>(last));
  const int whole = static_cast<int>(place);
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): a GPU's kernel, and >= 0.
  const auto behind = static_cast<std::int16_t>((place - whole) * kOne + 0.5);
  return {.first = whole - 1,
          .weight = {0, static_cast<std::int16_t>(kOne - behind), behind, 0}};
}

}  // namespace infeed
