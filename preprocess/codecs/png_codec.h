#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// A mask: [height, width] values without padding. Keeps its memory when it is
// reused for a smaller one.
struct LabelImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint16_t> values;

  [[nodiscard]] const std::uint16_t* row(int y) const {
    return values.data() + static_cast<std::ptrdiff_t>(y) * width;
  }
};

// Decodes a PNG of class numbers as it stores them: gray samples of 1 to 16
// bits, not scaled to another depth, or a palette's indexes. Gamma,
// transparency and the palette's colours are ignored. Throws DataError, with
// labels unspecified, for anything else than a PNG, for more than max_pixels in
// the header, before memory is allocated for them, for colours or an alpha
// channel, and for a PNG that is damaged or cut short. ReadStoredSize() has the
// size without decoding.
void DecodePngLabels(std::span<const std::byte> png, std::int64_t max_pixels,
                     LabelImage& labels);

// Returns the image as a PNG (lossless). Requires: it has pixels.
[[nodiscard]] std::string EncodePng(const RgbView& image);

}  // namespace infeed
