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

void BlendFromConstant(float constant, float factor,
                       std::span<std::uint32_t> pixels) {
  ApplyTable(MakeLevelTable([&](int level) {
               return TruncatedLevel(
                   Blended(constant, static_cast<float>(level), factor));
             }),
             pixels);
}

std::span<std::uint8_t> RowSamples(PixelSquare image, int y) {
  return {reinterpret_cast<std::uint8_t*>(image.row(y)),
          static_cast<std::size_t>(image.side) * sizeof(std::uint32_t)};
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

void AdjustSharpness(float factor, PixelSquare image,
                     std::vector<float>& rows) {
  if (image.side < 3) {
    return;  // All pixels are border.
  }
  const std::size_t stride = RowSamples(image, 0).size();
  rows.resize(3 * stride);
  float* above = rows.data();
  float* beside = above + stride;
  float* below = beside + stride;
  WeighRow(RowSamples(image, 0), above);
  WeighRow(RowSamples(image, 1), beside);
  for (int y = 1; y + 1 < image.side; ++y) {
    WeighRow(RowSamples(image, y + 1), below);
    SharpenRow(factor, above, beside, below, RowSamples(image, y));
    std::swap(above, beside);
    std::swap(beside, below);
  }
}

}  // namespace infeed
