#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Whether a record holds its pixels ready, image/packed. Throws DataError when
// they are not as many as image/height and image/width say, four bytes each.
[[nodiscard]] bool HoldsPixels(std::span<const std::byte> payload);

// The pixels of a record that holds them ready, image/packed, as an image;
// nullopt for any other record. Throws as HoldsPixels().
[[nodiscard]] std::optional<RgbImage> UnpackRecord(
    std::span<const std::byte> payload);

}  // namespace infeed
