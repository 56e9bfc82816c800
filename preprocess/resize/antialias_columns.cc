#include "preprocess/resize/antialias_columns.h"

#include <algorithm>

#include "base/rounding.h"
#include "preprocess/resize/groups.h"

namespace infeed {
namespace {

constexpr int kStep = 4;  // taps

}  // namespace

void AntialiasColumns::Set(const ResizeSide& side, int size, bool flip) {
  axis_.Set(side.in_size, side.out_size);
  int taps_most = 1;
  for (int x = 0; x < size; ++x) {
    taps_most = std::max(taps_most, axis_.Support(side.out_first + x).count);
  }
  steps_ = CeilDiv(taps_most, kStep);
  const int groups = CeilDiv(size, kGroupPixels);
  places_.resize(static_cast<std::size_t>(groups));
  weights_.assign(static_cast<std::size_t>(groups) * steps_, {});
  is_near_ = true;
  for (int x = 0; x < groups * kGroupPixels; ++x) {
    const int column = std::min(x, size - 1);
    AntialiasTaps taps =
        axis_.At(side.out_first + (flip ? size - 1 - column : column));
    taps.first -= side.in_first;
    SetPixel(taps, x / kGroupPixels, x % kGroupPixels);
  }
  for (ColumnPlaces& places : places_) {
    is_near_ = SetPlaces(steps_ * kStep, places) && is_near_;
  }
}

void AntialiasColumns::SetPixel(const AntialiasTaps& taps, int group,
                                int pixel) {
  places_[group].offsets[pixel] = taps.first * kPixelBytes;
  AntialiasWeights* const weights =
      weights_.data() + std::ptrdiff_t{group} * steps_;
  for (std::size_t tap = 0; tap < taps.weights.size(); ++tap) {
    AntialiasWeights& step = weights[tap / kStep];
    const std::int32_t weight = taps.weights[tap];
    for (std::size_t sample = 0; sample < 4; ++sample) {
      const std::size_t at = pixel * 8 + sample * 2 + tap % 2;
      step.high[tap % kStep / 2][at] = HighPart(weight);
      step.low[tap % kStep / 2][at] = LowPart(weight);
    }
  }
}

std::ptrdiff_t AntialiasColumns::slack() const {
  return std::ptrdiff_t{steps_} * kStep * kPixelBytes + kVectorBytes;
}

}  // namespace infeed
