#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "preprocess/jpeg_entropy/seek_index.h"

namespace infeed {

// An index like a photograph's, without an image: some hundred bits per MCU,
// and varying predictors.
[[nodiscard]] inline JpegSeekIndex MadeSeekIndex(int mcus_per_row, int mcu_rows,
                                                 int run, int components = 3) {
  JpegSeekIndex index = {
      .mcus_per_row = mcus_per_row, .mcu_rows = mcu_rows, .run = run};
  std::mt19937 random(static_cast<std::uint32_t>(mcus_per_row * mcu_rows));
  std::uint32_t bit = 5000;
  SeekEntry entry;
  while (index.entries.size() < index.entry_count()) {
    entry.byte = bit / 8;
    entry.bit = static_cast<std::uint8_t>(bit % 8);
    index.entries.push_back(entry);
    bit +=
        1 + static_cast<std::uint32_t>(std::min(run, 100)) * (random() % 400);
    for (int i = 0; i < components; ++i) {
      auto& dc = entry.dc[static_cast<std::size_t>(i)];
      dc = static_cast<std::int16_t>(dc / 2 + static_cast<int>(random() % 200) -
                                     100);
    }
  }
  return index;
}

}  // namespace infeed
