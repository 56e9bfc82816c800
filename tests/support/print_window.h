#pragma once

#include <ostream>

#include <gtest/gtest.h>

#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// For GoogleTest.
inline void PrintTo(const Window& window, std::ostream* out) {
  *out << window.y << "," << window.x << "," << window.height << ","
       << window.width;
}

inline testing::AssertionResult IsInside(const Window& window,
                                         const ImageSize& size) {
  const bool is_inside = window.y >= 0 && window.x >= 0 && window.height > 0 &&
                         window.width > 0 &&
                         window.y + window.height <= size.height &&
                         window.x + window.width <= size.width;
  return testing::AssertionResult(is_inside)
         << testing::PrintToString(window) << " in " << size;
}

}  // namespace infeed
