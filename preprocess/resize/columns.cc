#include "preprocess/resize/columns.h"

#include <algorithm>
#include <cstddef>

#include "base/rounding.h"
#include "preprocess/resize/resize.h"

namespace infeed {
namespace {

// The bytes of a pixel's first two taps, relative to its offset, for the
// samples 0 B G R; each tap takes two bytes, of which the second is 0.
constexpr std::array<std::uint8_t, 16> kPlaces = {0, 0, 0, 0, 2, 0, 5, 0,
                                                  1, 0, 4, 0, 0, 0, 3, 0};

constexpr int kLaneBytes = 16;

void SetPixel(const FourTaps& taps, int i, ColumnGroup& group) {
  group.firsts[i] = taps.first;
  group.first_weights[2 * i] = taps.weight[0];
  group.first_weights[2 * i + 1] = taps.weight[1];
  group.last_weights[2 * i] = taps.weight[2];
  group.last_weights[2 * i + 1] = taps.weight[3];
}

// A kernel's two inner taps as the first two of four.
FourTaps WithoutOuter(const FourTaps& taps) {
  return {.first = taps.first + 1,
          .weight = {taps.weight[1], taps.weight[2], 0, 0}};
}

}  // namespace

bool SetPlaces(int taps, ColumnPlaces& columns) {
  const auto [least, greatest] =
      std::minmax(columns.offsets.front(), columns.offsets.back());
  columns.base = least;
  if (greatest - least > kVectorBytes - taps * kPixelBytes) {
    return false;
  }
  for (int i = 0; i < kGroupPixels; ++i) {
    const auto delta = static_cast<std::uint8_t>(columns.offsets[i] - least);
    for (std::size_t k = 0; k < kPlaces.size(); ++k) {
      columns.places[i * kPlaces.size() + k] =
          static_cast<std::uint8_t>(kPlaces[k] + delta);
    }
  }
  return true;
}

void ResizeColumns::Set(ResizeKernel kernel, const ResizeSide& side, int size,
                        bool flip) {
  groups_.resize(
      CeilDiv<std::size_t>(static_cast<std::size_t>(size), kUnitPixels));
  has_two_taps_ = kernel == ResizeKernel::kBilinear;
  is_near_ = true;
  is_group_near_ = true;
  taps_.resize(static_cast<std::size_t>(size));
  FourTapAxis(kernel, side.in_size, side.out_size).At(side.out_first, taps_);
  if (flip) {
    std::ranges::reverse(taps_);
  }
  std::size_t x = 0;
  for (ColumnGroup& group : groups_) {
    for (int i = 0; i < kUnitPixels; ++i, ++x) {
      FourTaps taps = taps_[std::min(x, taps_.size() - 1)];
      taps.first -= side.in_first;
      SetPixel(has_two_taps_ ? WithoutOuter(taps) : taps, i, group);
    }
    SetPlaces(group);
  }
}

// First taps ascend or descend.
void ResizeColumns::SetPlaces(ColumnGroup& group) {
  const auto& firsts = group.firsts;
  group.base = std::min(firsts.front(), firsts.back());
  is_group_near_ =
      is_group_near_ && std::max(firsts.front(), firsts.back()) - group.base <=
                            kVectorBytes - kTaps;
  for (int i = 0; i < kUnitPixels; ++i) {
    const int lane = i / kGroupPixels;
    const auto [least, greatest] =
        std::minmax(firsts[lane * kGroupPixels],
                    firsts[lane * kGroupPixels + kGroupPixels - 1]);
    group.offsets[lane] = least;
    is_near_ = is_near_ && greatest - least <= kLaneBytes - kTaps;
    for (int tap = 0; tap < 2; ++tap) {
      const int at = 4 * i + 2 * tap;
      group.places[at] = static_cast<std::uint8_t>(firsts[i] - least + tap);
      group.base_places[at] =
          static_cast<std::uint8_t>(firsts[i] - group.base + tap);
      group.places[at + 1] = group.base_places[at + 1] = 0x80;
    }
  }
}

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
