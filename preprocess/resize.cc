#include "preprocess/resize.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "base/error.h"
#include "preprocess/antialias.h"
#include "preprocess/pack.h"

namespace infeed {
namespace {

constexpr int kSteps = 1024;          // places between two samples
constexpr double kSharpness = -0.75;  // A of the cubic convolution

using Weights = std::array<std::int16_t, 4>;
using WeightTable = std::array<Weights, kSteps + 1>;

// A weight in fixed point, rounded to even: at 1.5 * 2^52 a double's last bit
// is one.
constexpr int Fixed(double weight) {
  constexpr double kWhole = 6755399441055744;
  return static_cast<int>(weight * (1 << kResizeWeightBits) + kWhole - kWhole);
}

// The kernel at distance x in 0..1, and at distance 1 + x.
constexpr int Near(double x) {
  return Fixed(((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1);
}
constexpr int Far(double x) {
  return Fixed(kSharpness * x * (1 - x) * (1 - x));
}

// The weights at a fraction of t / kSteps behind the second of four samples.
constexpr Weights MakeWeights(int t) {
  const double x = static_cast<double>(t) / kSteps;
  std::array<int, 4> weights{Far(x), Near(x), Near(1 - x), Far(1 - x)};
  // What rounding left over goes to the largest, so that flat areas stay flat.
  const int rest = (1 << kResizeWeightBits) - weights[0] - weights[1] -
                   weights[2] - weights[3];
  weights[t <= kSteps / 2 ? 1 : 2] += rest;
  Weights result{};
  std::copy(weights.begin(), weights.end(), result.begin());
  return result;
}

constexpr WeightTable kWeights = [] {
  WeightTable table{};
  for (int t = 0; t <= kSteps; ++t) {
    table[t] = MakeWeights(t);
  }
  return table;
}();

// As std::lrintf(), which is a call: at 1.5 * 2^23 a float's last bit is one.
// Requires: 0 <= value < 2^22.
int RoundToEven(float value) {
  constexpr float kWhole = 12582912;
  return std::bit_cast<std::int32_t>(value + kWhole) -
         std::bit_cast<std::int32_t>(kWhole);
}

// One row of the source at the place of an output column, one channel.
std::int16_t BlendColumns(const std::uint8_t* row, int width,
                          const FourTaps& taps, int channel) {
  std::int32_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += taps.weight[i] *
           row[std::clamp(taps.first + i, 0, width - 1) * 3 + channel];
  }
  return RoundToRow(sum);
}

std::uint32_t BlendRows(const RgbView& source, const FourTaps& rows,
                        const FourTaps& columns, int channel) {
  std::int32_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int y = std::clamp(rows.first + i, 0, source.height - 1);
    sum += rows.weight[i] *
           BlendColumns(source.row(y), source.width, columns, channel);
  }
  return RoundToLevel(sum);
}

}  // namespace

FourTapAxis::FourTapAxis(ResizeKernel kernel, int in_size, int out_size)
    : is_bicubic_(kernel == ResizeKernel::kBicubic),
      scale_(static_cast<float>(in_size) / static_cast<float>(out_size)),
      exact_scale_(static_cast<double>(in_size) / out_size),
      last_(in_size - 1) {
  Check(kernel != ResizeKernel::kAntialias, "a kernel of four taps");
}

FourTaps FourTapAxis::At(int out_index) const {
  return is_bicubic_ ? BicubicAt(out_index) : BilinearAt(out_index);
}

FourTaps FourTapAxis::BicubicAt(int out_index) const {
  const float place = static_cast<float>(out_index) * scale_;
  // The clamps are for float's rounding alone, at sizes beyond any image's.
  const int whole = std::min(static_cast<int>(place), last_);
  const float steps = (place - static_cast<float>(whole)) * kSteps;
  return {.first = whole - 1,
          .weight = kWeights[std::min(RoundToEven(steps), kSteps)]};
}

FourTaps FourTapAxis::BilinearAt(int out_index) const {
  constexpr int kOne = 1 << kResizeWeightBits;
  const double place = std::clamp((out_index + 0.5) * exact_scale_ - 0.5, 0.0,
                                  static_cast<double>(last_));
  const int whole = static_cast<int>(place);
  const auto behind = static_cast<std::int16_t>((place - whole) * kOne + 0.5);
  return {.first = whole - 1,
          .weight = {0, static_cast<std::int16_t>(kOne - behind), behind, 0}};
}

void Resize(ResizeKernel kernel, const RgbView& source, int width, int height,
            std::span<std::uint32_t> destination) {
  Check(source.width > 0 && source.height > 0 && width > 0 && height > 0,
        "an image has pixels");
  Check(std::ssize(destination) == std::ptrdiff_t{width} * height,
        "the destination has the given size");
  if (kernel == ResizeKernel::kAntialias) {
    return ResizeAntialias(source, width, height, destination);
  }
  const FourTapAxis vertical(kernel, source.height, height);
  const FourTapAxis horizontal(kernel, source.width, width);
  for (int y = 0; y < height; ++y) {
    const FourTaps rows = vertical.At(y);
    std::uint32_t* const target =
        destination.data() + std::ptrdiff_t{y} * width;
    for (int x = 0; x < width; ++x) {
      const FourTaps columns = horizontal.At(x);
      const auto level = [&](int channel) {
        return BlendRows(source, rows, columns, channel);
      };
      target[x] = PackPixel(level(0), level(1), level(2));
    }
  }
}

void ResizeBicubic(const RgbView& source, int size, bool flip,
                   std::span<std::uint32_t> destination) {
  Resize(ResizeKernel::kBicubic, source, size, size, destination);
  if (flip) {
    MirrorRows(size, destination);
  }
}

}  // namespace infeed
