#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "preprocess/jpeg/jpeg.h"

namespace infeed {

// What Preprocessor::Fill() did with one image.
struct FillCounts {
  // Of the window that was asked for, at the size that it was decoded to.
  std::int64_t decoded_pixels = 0;
  // Beside these, about: OutsidePixels(); of a PNG, the rest of the image.
  std::int64_t outside_pixels = 0;
  std::chrono::steady_clock::duration decode{};  // time without the others
  // Of a window that is not resized here: packing it.
  std::chrono::steady_clock::duration resize{};
  std::chrono::steady_clock::duration augment{};
  JpegIndexUse index_use = JpegIndexUse::kNone;
  std::string warning = {};  // libjpeg's first that was tolerated; empty: none
};

}  // namespace infeed
