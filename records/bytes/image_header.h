#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace infeed {

// Returns the format of an image, "JPEG", "PNG", "WebP", "BMP", "TIFF",
// "JPEG 2000" or "PNM", by decoding its header; "" if the bytes are not such an
// image. A text that merely begins like one ("BMW") is none. bytes: the
// beginning of the image up to the end of its header at least.
[[nodiscard]] std::string_view FindImageFormat(
    std::span<const std::byte> bytes);

}  // namespace infeed
