#include "preprocess/augment_color_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace infeed {
namespace {

float Blended(float low, float high, float factor) {
  return low + factor * (high - low);
}

// TensorFlow's conversion: to 0..1, weighted, and back rounded up from the half
// that its factor of 255.5 adds.
float GrayLevel(std::uint32_t pixel) {
  constexpr float kUnit = 1.0F / 255.0F;
  const float gray = RealLevel(pixel, kRedShift) * kUnit * 0.2989F +
                     RealLevel(pixel, kGreenShift) * kUnit * 0.5870F +
                     RealLevel(pixel, kBlueShift) * kUnit * 0.1140F;
  return static_cast<float>(static_cast<int>(gray * 255.5F));
}

void BlendFromConstant(float constant, float factor,
                       std::span<std::uint32_t> pixels) {
  ApplyTable(MakeLevelTable([&](int level) {
               return TruncatedLevel(
                   Blended(constant, static_cast<float>(level), factor));
             }),
             pixels);
}

// Samples of the smoothing: four to a pixel, of which the first is nothing.
constexpr std::ptrdiff_t kSamples = sizeof(std::uint32_t);
constexpr float kOuterWeight = 1.0F / 13.0F;
constexpr float kInnerWeight = 5.0F / 13.0F;

const std::uint8_t* RowSamples(PixelSquare image, int y) {
  return reinterpret_cast<const std::uint8_t*>(image.row(y));
}

// Weighs a row as one of an outer sample's.
void WeighRow(PixelSquare image, int y, float* weighted) {
  const std::uint8_t* row = RowSamples(image, y);
  for (std::ptrdiff_t i = 0; i < kSamples * image.side; ++i) {
    weighted[i] = static_cast<float>(row[i]) * kOuterWeight;
  }
}

// The row from pixel 1 to the last but one; above, beside and below are rows
// weighed. The order of the sum is TensorFlow's, and decides where it is whole.
void SharpenRow(float factor, int side, const float* above, const float* beside,
                const float* below, std::uint8_t* row) {
  for (std::ptrdiff_t i = kSamples; i < kSamples * (side - 1); ++i) {
    const float level = static_cast<float>(row[i]);
    float sum = above[i - kSamples] + above[i];
    sum += above[i + kSamples];
    sum += beside[i - kSamples];
    sum += level * kInnerWeight;
    sum += beside[i + kSamples];
    sum += below[i - kSamples];
    sum += below[i];
    sum += below[i + kSamples];
    const float smooth =
        static_cast<float>(static_cast<int>(TruncatedLevel(sum)));
    row[i] = static_cast<std::uint8_t>(
        TruncatedLevel(Blended(smooth, level, factor)));
  }
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
  for (std::uint32_t& pixel : pixels) {
    const float gray = GrayLevel(pixel);
    std::uint32_t blended = 0;
    for (const int shift : kChannelShifts) {
      blended |= TruncatedLevel(Blended(gray, RealLevel(pixel, shift), factor))
                 << shift;
    }
    pixel = blended;
  }
}

void AdjustContrast(float factor, std::span<std::uint32_t> pixels) {
  const std::size_t constant = std::min<std::size_t>(pixels.size() / 256, 255);
  BlendFromConstant(static_cast<float>(constant), factor, pixels);
}

void AdjustBrightness(float factor, std::span<std::uint32_t> pixels) {
  BlendFromConstant(0, factor, pixels);
}

void AdjustSharpness(float factor, PixelSquare image,
                     std::vector<float>& rows) {
  if (image.side < 3) {
    return;  // All border.
  }
  const std::size_t stride =
      static_cast<std::size_t>(kSamples) * static_cast<std::size_t>(image.side);
  rows.resize(3 * stride);
  float* above = rows.data();
  float* beside = above + stride;
  float* below = beside + stride;
  WeighRow(image, 0, above);
  WeighRow(image, 1, beside);
  for (int y = 1; y + 1 < image.side; ++y) {
    WeighRow(image, y + 1, below);
    SharpenRow(factor, image.side, above, beside, below,
               reinterpret_cast<std::uint8_t*>(image.row(y)));
    std::swap(above, beside);
    std::swap(beside, below);
  }
}

}  // namespace infeed
