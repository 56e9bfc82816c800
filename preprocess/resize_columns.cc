#include "preprocess/resize_columns.h"

#include <algorithm>
#include <cstddef>

#include "preprocess/resize.h"

namespace infeed {
namespace {

constexpr int kGroup = 4;
constexpr int kVectorBytes = 64;
constexpr int kTapsBytes = 12;  // four pixels

// The bytes of a pixel's first two taps, counted from its offset, for the
// samples 0 B G R, each tap in two bytes of which the second is 0.
constexpr std::array<std::uint8_t, 16> kPlaces = {0, 0, 0, 0, 2, 0, 5, 0,
                                                  1, 0, 4, 0, 0, 0, 3, 0};

void SetPixel(const BicubicTaps& taps, int i, ColumnGroup& group) {
  group.offsets[i] = taps.first * 3;
  for (int k = 0; k < 8; k += 2) {
    group.first_weights[i * 8 + k] = taps.weight[0];
    group.first_weights[i * 8 + k + 1] = taps.weight[1];
    group.last_weights[i * 8 + k] = taps.weight[2];
    group.last_weights[i * 8 + k + 1] = taps.weight[3];
  }
}

// Returns whether the places are near enough for it.
bool SetPlaces(ColumnGroup& group) {
  // Ascending, or descending where columns are mirrored.
  const auto [least, greatest] =
      std::minmax(group.offsets.front(), group.offsets.back());
  group.base = least;
  if (greatest - least > kVectorBytes - kTapsBytes) {
    return false;
  }
  for (int i = 0; i < kGroup; ++i) {
    const auto delta = static_cast<std::uint8_t>(group.offsets[i] - least);
    for (std::size_t k = 0; k < kPlaces.size(); ++k) {
      group.places[i * kPlaces.size() + k] =
          static_cast<std::uint8_t>(kPlaces[k] + delta);
    }
  }
  return true;
}

}  // namespace

void ResizeColumns::Set(int width, int size, bool flip) {
  groups_.resize((static_cast<std::size_t>(size) + kGroup - 1) / kGroup);
  is_near_ = true;
  const BicubicAxis axis(width, size);
  int x = 0;
  for (ColumnGroup& group : groups_) {
    for (int i = 0; i < kGroup; ++i, ++x) {
      const int column = std::min(x, size - 1);
      SetPixel(axis.At(flip ? size - 1 - column : column), i, group);
    }
    is_near_ = SetPlaces(group) && is_near_;
  }
}

}  // namespace infeed
