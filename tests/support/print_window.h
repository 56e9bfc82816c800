#pragma once

#include <ostream>

#include "preprocess/pixels/image.h"

namespace infeed {

// For GoogleTest.
inline void PrintTo(const Window& window, std::ostream* out) {
  *out << window.y << "," << window.x << "," << window.height << ","
       << window.width;
}

}  // namespace infeed
