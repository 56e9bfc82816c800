#pragma once

#include <cstddef>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

[[nodiscard]] bool IsPng(std::span<const std::byte> bytes);

// Decodes a PNG to RGB: the high bytes of 16 bits, gray spread, colours of a
// palette looked up, alpha and transparency dropped, colour profiles and gamma
// ignored. Prints nothing, whatever libpng has to say: warnings are of chunks
// that do not matter to the pixels, errors become DataError with its words.
// Requires: IsPng(bytes).
void DecodePng(std::span<const std::byte> bytes, RgbImage& image);

}  // namespace infeed
