#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// The header of a PBM, PGM, PPM or PAM image, in text or binary.
struct PnmHeader {
  int type = 0;  // the digit of its P: 1 to 7
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;       // of a pixel: 1 to 4; an even number has alpha
  int max_value = 1;      // white; 1 to 65535
  std::size_t first = 0;  // the offset of the first sample
};

// Returns nullopt for other formats and for a header that is damaged or cut
// short.
[[nodiscard]] std::optional<PnmHeader> ReadPnmHeader(
    std::span<const std::byte> bytes);

// Decodes a PNM image to RGB: samples are scaled by the image's own maximum to
// 255 and rounded, gray is copied to all channels, alpha dropped. Throws
// DataError if samples are missing, damaged or above the maximum. Requires:
// ReadPnmHeader(bytes) returned this header, and its size was limited.
void DecodePnm(std::span<const std::byte> bytes, const PnmHeader& header,
               RgbImage& image);

}  // namespace infeed
