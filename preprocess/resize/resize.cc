#include "preprocess/resize/resize.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/kernels.h"

namespace infeed {
namespace {

// Blends one row of the source for an output column, one channel.
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
  Check(!IsAntialiased(kernel), "a kernel of four taps");
}

FourTaps FourTapAxis::At(int out_index) const {
  if (!is_bicubic_) {
    return BilinearTaps(out_index, exact_scale_, last_);
  }
  const BicubicPlace place = BicubicPlaceOf(out_index, scale_, last_);
  return {.first = place.whole - 1, .weight = BicubicWeights(place.step)};
}

void FourTapAxis::At(int out_first, std::span<FourTaps> taps) const {
  if (is_bicubic_) {
    return BicubicTaps(out_first, scale_, last_, taps);
  }
  for (FourTaps& to : taps) {
    to = BilinearTaps(out_first++, exact_scale_, last_);
  }
}

void Resize(ResizeKernel kernel, const RgbView& source, int width, int height,
            std::span<std::uint32_t> destination) {
  Check(source.width > 0 && source.height > 0 && width > 0 && height > 0,
        "an image has pixels");
  Check(std::ssize(destination) == std::ptrdiff_t{width} * height,
        "the destination has the given size");
  if (IsAntialiased(kernel)) {
    return ResizeAntialias(kernel, source, width, height, destination);
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
