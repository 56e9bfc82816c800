#include "preprocess/augment/color_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "preprocess/augment/loops.h"

namespace infeed {
namespace {

float Blended(float low, float high, float factor) {
  return low + factor * (high - low);
}

std::span<std::uint8_t> RowSamples(PixelImage image, int y) {
  return {reinterpret_cast<std::uint8_t*>(image.row(y)),
          image.row_span(y).size_bytes()};
}

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

// In the precision of Real.
template <typename Real>
LevelTable StretchedLevels(const Histogram& counts) {
  const auto low = static_cast<Real>(LowestLevel(counts));
  const auto high = static_cast<Real>(HighestLevel(counts));
  if (low == high) {
    return MakeLevelTable(kSame);
  }
  const Real scale = Real{255} / (high - low);
  const Real offset = -low * scale;
  return MakeLevelTable([&](int level) {
    const Real stretched = static_cast<Real>(level) * scale + offset;
    return std::clamp(static_cast<int>(stretched), 0, 255);
  });
}

template <typename Real>
void Stretch(std::span<std::uint32_t> pixels) {
  const std::array<Histogram, 3> counts = CountLevels(pixels);
  const auto table = [&](std::size_t channel) {
    return StretchedLevels<Real>(counts[channel]);
  };
  ApplyTables({table(0), table(1), table(2)}, pixels);
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

void Invert(std::span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    pixel ^= 0xFFFFFF00;
  }
}

void Posterize(int bits, std::span<std::uint32_t> pixels) {
  const int shift = 8 - std::clamp(bits, 1, 8);
  const std::uint32_t kept = (255U >> shift << shift) * 0x01010100U;
  for (std::uint32_t& pixel : pixels) {
    pixel &= kept;
  }
}

void Solarize(int threshold, std::span<std::uint32_t> pixels) {
  ApplyTable(MakeLevelTable([&](int level) {
               return level < threshold ? level : 255 - level;
             }),
             pixels);
}

void SolarizeAdd(int addition, std::span<std::uint32_t> pixels) {
  ApplyTable(MakeLevelTable([&](int level) {
               return level < 128 ? std::min(level + addition, 255) : level;
             }),
             pixels);
}

void AdjustColor(float factor, std::span<std::uint32_t> pixels) {
  BlendFromGray(factor, pixels);
}

void AdjustContrast(float factor, std::span<std::uint32_t> pixels) {
  const std::size_t constant = std::min<std::size_t>(pixels.size() / 256, 255);
  BlendFromConstant(static_cast<float>(constant), factor, pixels);
}

void AdjustBrightness(float factor, std::span<std::uint32_t> pixels) {
  BlendFromConstant(0, factor, pixels);
}

void BlendFromConstant(float constant, float factor,
                       std::span<std::uint32_t> pixels) {
  ApplyTable(MakeLevelTable([&](int level) {
               return TruncatedLevel(
                   Blended(constant, static_cast<float>(level), factor));
             }),
             pixels);
}

void AdjustSharpness(float factor, PixelImage image, std::vector<float>& rows) {
  if (image.size.shorter() < 3) {
    return;  // All pixels are border.
  }
  const std::size_t stride = RowSamples(image, 0).size();
  rows.resize(3 * stride);
  float* above = rows.data();
  float* beside = above + stride;
  float* below = beside + stride;
  WeighRow(RowSamples(image, 0), above);
  WeighRow(RowSamples(image, 1), beside);
  for (int y = 1; y + 1 < image.size.height; ++y) {
    WeighRow(RowSamples(image, y + 1), below);
    SharpenRow(factor, above, beside, below, RowSamples(image, y));
    std::swap(above, beside);
    std::swap(beside, below);
  }
}

void AutoContrast(std::span<std::uint32_t> pixels) { Stretch<float>(pixels); }
void StretchLevels(std::span<std::uint32_t> pixels) { Stretch<double>(pixels); }

void Equalize(std::span<std::uint32_t> pixels) {
  const std::array<Histogram, 3> counts = CountLevels(pixels);
  const auto size = static_cast<std::uint32_t>(pixels.size());
  ApplyTables(
      {EqualizedLevels(counts[0], size), EqualizedLevels(counts[1], size),
       EqualizedLevels(counts[2], size)},
      pixels);
}

}  // namespace infeed
