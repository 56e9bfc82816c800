#include "preprocess/augment/blur.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>

namespace infeed {
namespace {

constexpr int kMostRadius = 11;  // 23 taps
constexpr int kWeightBits = 15;
constexpr int kPlaneBits = 8;  // of the fraction between the passes

// The weights by their distance from the centre; all taps add up to 2^15.
struct Kernel {
  std::array<std::int32_t, kMostRadius + 1> weights = {};
  int radius = 0;  // of the farthest weight that is not 0
};

Kernel MakeKernel(float sigma, int side) {
  std::array<double, kMostRadius + 1> densities = {};
  const int radius = std::min(kMostRadius, side - 1);
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    const double x = i / static_cast<double>(sigma);
    sum += densities[static_cast<std::size_t>(std::abs(i))] =
        std::exp(-0.5 * x * x);
  }
  Kernel kernel;
  kernel.weights[0] = 1 << kWeightBits;
  for (int i = radius; i > 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    kernel.weights[at] = static_cast<std::int32_t>(
        std::lrint(densities[at] / sum * (1 << kWeightBits)));
    kernel.weights[0] -= 2 * kernel.weights[at];
    if (kernel.weights[at] > 0) {
      kernel.radius = std::max(kernel.radius, i);
    }
  }
  return kernel;
}

int Reflected(int i, int side) {
  return i < 0 ? -i : i >= side ? 2 * (side - 1) - i : i;
}

// sums[x] = the weighted sum of tap(-radius)[x] to tap(radius)[x].
void SumTaps(const Kernel& kernel, auto&& tap, std::span<std::int32_t> sums) {
  std::ranges::fill(sums, 0);
  for (int i = -kernel.radius; i <= kernel.radius; ++i) {
    const std::int32_t weight =
        kernel.weights[static_cast<std::size_t>(std::abs(i))];
    const auto* const values = tap(i);
    for (std::size_t x = 0; x < sums.size(); ++x) {
      sums[x] += weight * values[x];
    }
  }
}

// Rounds half up.
constexpr std::int32_t WithoutBits(std::int32_t value, int bits) {
  return (value + (1 << (bits - 1))) >> bits;
}

void BlurRows(const Kernel& kernel, PixelImage image, int shift,
              BlurScratch& scratch) {
  std::uint16_t* out = scratch.plane.data();
  const auto [height, width] = image.size;
  for (int y = 0; y < height; ++y) {
    std::int32_t* place = scratch.line.data();
    for (int x = -kernel.radius; x < width + kernel.radius; ++x) {
      *place++ = static_cast<std::int32_t>(
          Level(image.row(y)[Reflected(x, width)], shift));
    }
    const std::int32_t* const line = scratch.line.data() + kernel.radius;
    SumTaps(
        kernel, [line](int i) { return line + i; }, scratch.sums);
    for (const std::int32_t sum : scratch.sums) {
      *out++ = static_cast<std::uint16_t>(
          WithoutBits(sum, kWeightBits - kPlaneBits));
    }
  }
}

void BlurColumns(const Kernel& kernel, PixelImage image, int shift,
                 BlurScratch& scratch) {
  const int height = image.size.height;
  const int width = image.size.width;
  for (int y = 0; y < height; ++y) {
    SumTaps(
        kernel,
        [&](int i) {
          return scratch.plane.data() +
                 std::ptrdiff_t{Reflected(y + i, height)} * width;
        },
        scratch.sums);
    std::uint32_t* const row = image.row(y);
    for (std::size_t x = 0; x < scratch.sums.size(); ++x) {
      const auto level = static_cast<std::uint32_t>(
          WithoutBits(scratch.sums[x], kWeightBits + kPlaneBits));
      row[x] = (row[x] & ~(255U << shift)) | level << shift;
    }
  }
}

}  // namespace

void GaussianBlur(float sigma, PixelImage image, BlurScratch& scratch) {
  const Kernel along_rows = MakeKernel(sigma, image.size.width);
  const Kernel along_columns = MakeKernel(sigma, image.size.height);
  const auto width = static_cast<std::size_t>(image.size.width);
  scratch.line.resize(width + 2 * kMostRadius);
  scratch.sums.resize(width);
  scratch.plane.resize(image.size.pixels());
  for (const int shift : kChannelShifts) {
    BlurRows(along_rows, image, shift, scratch);
    BlurColumns(along_columns, image, shift, scratch);
  }
}

}  // namespace infeed
