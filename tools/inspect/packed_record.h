#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Whether a record holds packed pixels, image/packed. Throws DataError unless
// these are image/height * image/width pixels of four bytes.
[[nodiscard]] bool HoldsPixels(std::span<const std::byte> payload);

// A record's packed pixels as an image; nullopt: the record has none. Throws
// what HoldsPixels() throws.
[[nodiscard]] std::optional<RgbImage> UnpackRecord(
    std::span<const std::byte> payload);

}  // namespace infeed
