#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

struct StoredSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

// "30x20": first the width.
[[nodiscard]] std::string WidthAndHeight(const StoredSize& size);

// Returns the size that the header of a PNG, BMP, WebP, TIFF, JPEG 2000 or PNM
// image claims (of a TIFF, its first page), so that it can be limited before a
// decoder allocates for it. Returns nullopt for anything else, and for a header
// that is cut short or claims no pixels.
[[nodiscard]] std::optional<StoredSize> ReadStoredSize(
    std::span<const std::byte> bytes);

// Throws DataError for more than max_pixels. name: "an image", "a mask".
// Requires: both sides > 0.
void CheckPixelLimit(const StoredSize& size, std::int64_t max_pixels,
                     std::string_view name);

}  // namespace infeed
