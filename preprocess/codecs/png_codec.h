#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "preprocess/pixels/image.h"

namespace infeed {

[[nodiscard]] bool IsPng(std::span<const std::byte> bytes);

// Decodes a PNG to RGB: the high bytes of 16-bit samples, gray copied to all
// channels, palettes applied, alpha and transparency dropped, colour profiles
// and gamma ignored. Prints nothing: libpng's warnings, which concern chunks
// that do not affect the pixels, are dropped, and its errors become DataError
// with its message. Nothing behind the pixels is read. Requires: IsPng(bytes),
// and that the size in its header was limited (ReadStoredSize()).
void DecodePng(std::span<const std::byte> bytes, RgbImage& image);

// Returns the image as a PNG (lossless). Requires: it has pixels.
[[nodiscard]] std::string EncodePng(const RgbView& image);

}  // namespace infeed
