#include "preprocess/augment/histogram_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "preprocess/augment/pixels.h"

namespace infeed {
namespace {

using Histogram = std::array<std::uint32_t, 256>;

std::array<Histogram, 3> CountLevels(std::span<const std::uint32_t> pixels) {
  std::array<Histogram, 3> counts{};
  for (const std::uint32_t pixel : pixels) {
    for (std::size_t c = 0; c < counts.size(); ++c) {
      ++counts[c][Level(pixel, kChannelShifts[c])];
    }
  }
  return counts;
}

constexpr auto kIsFilled = [](std::uint32_t count) { return count > 0; };

// Requires: the counted image is not empty.
int LowestLevel(const Histogram& counts) {
  return static_cast<int>(std::ranges::find_if(counts, kIsFilled) -
                          counts.begin());
}

int HighestLevel(const Histogram& counts) {
  return static_cast<int>(
      counts.rend() - 1 -
      std::find_if(counts.rbegin(), counts.rend(), kIsFilled));
}

constexpr auto kSame = [](int level) { return level; };

LevelTable StretchedLevels(const Histogram& counts) {
  const auto low = static_cast<float>(LowestLevel(counts));
  const auto high = static_cast<float>(HighestLevel(counts));
  if (low == high) {
    return MakeLevelTable(kSame);
  }
  const float scale = 255.0F / (high - low);
  const float offset = -low * scale;
  return MakeLevelTable([&](int level) {
    return TruncatedLevel(static_cast<float>(level) * scale + offset);
  });
}

// Maps a level to the number of pixels below it, in steps of 1/255 of the
// pixels that are not on the highest level.
LevelTable EqualizedLevels(const Histogram& counts, std::uint32_t pixels) {
  const std::uint32_t highest =
      counts[static_cast<std::size_t>(HighestLevel(counts))];
  const std::uint32_t step = (pixels - highest) / 255;
  if (step == 0) {
    return MakeLevelTable(kSame);
  }
  std::uint32_t below = 0;
  return MakeLevelTable([&](int level) {
    const std::uint32_t rank = level == 0 ? 0 : (below + step / 2) / step;
    below += counts[static_cast<std::size_t>(level)];
    return std::min<std::uint32_t>(rank, 255);
  });
}

}  // namespace

void AutoContrast(std::span<std::uint32_t> pixels) {
  const std::array<Histogram, 3> counts = CountLevels(pixels);
  ApplyTables({StretchedLevels(counts[0]), StretchedLevels(counts[1]),
               StretchedLevels(counts[2])},
              pixels);
}

void Equalize(std::span<std::uint32_t> pixels) {
  const std::array<Histogram, 3> counts = CountLevels(pixels);
  const auto size = static_cast<std::uint32_t>(pixels.size());
  ApplyTables(
      {EqualizedLevels(counts[0], size), EqualizedLevels(counts[1], size),
       EqualizedLevels(counts[2], size)},
      pixels);
}

}  // namespace infeed
