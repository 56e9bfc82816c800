#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "preprocess/pixels/pixel_statistics.h"
#include "trainer/model/options.h"

namespace infeed {

[[nodiscard]] inline const PixelStatistics& StatisticsOf(
    Normalization normalization) {
  switch (normalization) {
    case Normalization::kUnit:
      return kUnitStatistics;
    case Normalization::kImagenetGray:
      return kImagenetGrayStatistics;
    case Normalization::kImagenet:
      break;
  }
  return kImagenetStatistics;
}

// The value of each of a network's channels, which take the colors in turn.
// Requires: channels >= 1.
[[nodiscard]] inline std::vector<float> InTurn(
    const std::array<float, kImageColors>& colors, int channels) {
  std::vector<float> values(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = colors[i % kImageColors];
  }
  return values;
}

}  // namespace infeed
