#include "preprocess/augment/pixels.h"

namespace infeed {
namespace {

// A table of levels already shifted to their place in a pixel.
using PlacedTable = std::array<std::uint32_t, 256>;

PlacedTable Placed(const LevelTable& table, int shift) {
  PlacedTable placed{};
  for (std::size_t level = 0; level < table.size(); ++level) {
    placed[level] = std::uint32_t{table[level]} << shift;
  }
  return placed;
}

}  // namespace

void ApplyTables(const std::array<LevelTable, 3>& tables,
                 std::span<std::uint32_t> pixels) {
  const PlacedTable red = Placed(tables[0], kRedShift);
  const PlacedTable green = Placed(tables[1], kGreenShift);
  const PlacedTable blue = Placed(tables[2], kBlueShift);
  for (std::uint32_t& pixel : pixels) {
    pixel = red[Level(pixel, kRedShift)] | green[Level(pixel, kGreenShift)] |
            blue[Level(pixel, kBlueShift)];
  }
}

void ApplyTable(const LevelTable& table, std::span<std::uint32_t> pixels) {
  ApplyTables({table, table, table}, pixels);
}

}  // namespace infeed
