#pragma once

#include <cstddef>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

[[nodiscard]] bool IsWebp(std::span<const std::byte> bytes);

// Decodes a WebP image, lossy or lossless, to RGB; drops alpha. Throws
// DataError for a damaged image and for an animation. Requires: IsWebp(bytes),
// and that the size in its header was limited (ReadStoredSize()).
void DecodeWebp(std::span<const std::byte> bytes, RgbImage& image);

}  // namespace infeed
