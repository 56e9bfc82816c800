#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "preprocess/pixels/image_size.h"

// The pixels that augmentation works on.
namespace infeed {

// The packed pixels (pack.h) of a slot, row by row. Requires: pixels.size() ==
// size.pixels().
struct PixelImage {
  std::span<std::uint32_t> pixels;
  ImageSize size;

  [[nodiscard]] std::uint32_t* row(int y) const {
    return pixels.data() + std::ptrdiff_t{y} * size.width;
  }
  [[nodiscard]] std::span<std::uint32_t> row_span(int y) const {
    return {row(y), static_cast<std::size_t>(size.width)};
  }
};

// Shifts of a packed pixel's channels.
constexpr int kRedShift = 24;
constexpr int kGreenShift = 16;
constexpr int kBlueShift = 8;
constexpr std::array<int, 3> kChannelShifts = {kRedShift, kGreenShift,
                                               kBlueShift};

[[nodiscard]] constexpr std::uint32_t Level(std::uint32_t pixel, int shift) {
  return pixel >> shift & 255;
}

// A level as float. Converted from int, for which vectors have an instruction.
[[nodiscard]] constexpr float RealLevel(std::uint32_t pixel, int shift) {
  return static_cast<float>(static_cast<int>(Level(pixel, shift)));
}

// Clips to 0..255 and drops the fraction.
[[nodiscard]] constexpr std::uint32_t TruncatedLevel(float value) {
  const float low = value > 0.0F ? value : 0.0F;
  return static_cast<std::uint32_t>(
      static_cast<int>(low < 255.0F ? low : 255.0F));
}

// Maps each level of one channel to a new level.
using LevelTable = std::array<std::uint8_t, 256>;

[[nodiscard]] LevelTable MakeLevelTable(auto&& new_level) {
  LevelTable table{};
  for (int level = 0; level < 256; ++level) {
    table[static_cast<std::size_t>(level)] =
        static_cast<std::uint8_t>(new_level(level));
  }
  return table;
}

// Maps each channel through its table: red, green, blue.
void ApplyTables(const std::array<LevelTable, 3>& tables,
                 std::span<std::uint32_t> pixels);
void ApplyTable(const LevelTable& table, std::span<std::uint32_t> pixels);

}  // namespace infeed
