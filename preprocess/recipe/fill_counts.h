#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "preprocess/jpeg/jpeg.h"

namespace infeed {

// What Preprocessor::Fill() did with one image.
struct FillCounts {
  // Pixels of the requested window, at the decoded size.
  std::int64_t decoded_pixels = 0;
  // An estimate of the other decoded pixels: OutsidePixels(); for a PNG, the
  // rest of the image.
  std::int64_t outside_pixels = 0;
  std::chrono::steady_clock::duration decode{};  // excludes the times below
  // For a window that is not resized here: the time of packing it.
  std::chrono::steady_clock::duration resize{};
  std::chrono::steady_clock::duration augment{};
  JpegIndexUse index_use = JpegIndexUse::kNone;
  std::string warning = {};  // libjpeg's first tolerated warning
};

}  // namespace infeed
