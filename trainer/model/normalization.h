#pragma once

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

}  // namespace infeed
