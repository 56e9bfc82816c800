#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace infeed {

// Returns the centred square of an image, size x size, as a small JPEG.
// Throws DataError for an image that cannot be decoded. Requires: size > 0.
[[nodiscard]] std::string Thumbnail(std::span<const std::byte> encoded,
                                    int size);

}  // namespace infeed
