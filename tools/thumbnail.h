#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// Returns the centred square of an image, size x size, as a small JPEG.
// Throws DataError for an image that cannot be decoded. Requires: size > 0.
[[nodiscard]] std::string Thumbnail(std::span<const std::byte> encoded,
                                    int size);

// Bytes as text of letters, digits, + and /, padded with =.
[[nodiscard]] std::string Base64(std::string_view bytes);

}  // namespace infeed
