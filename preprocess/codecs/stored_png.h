#pragma once

#include <string>

#include "preprocess/pixels/image.h"

namespace infeed {

// Returns the image as a PNG without compression, for builds without an
// encoder. Requires: the image has pixels, less than 2^31 bytes.
[[nodiscard]] std::string StoredPng(const RgbView& image);

}  // namespace infeed
