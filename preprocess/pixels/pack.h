#pragma once

#include <cstdint>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Packs a pixel as batches hold it; the low byte is 0.
[[nodiscard]] constexpr std::uint32_t PackPixel(std::uint32_t red,
                                                std::uint32_t green,
                                                std::uint32_t blue) {
  return red << 24 | green << 16 | blue << 8;
}

// Packs an image without resizing, mirrored left to right if flip is set.
// Requires: destination.size() == image.width * image.height.
void PackImage(const RgbView& image, bool flip,
               std::span<std::uint32_t> destination);

// Mirrors rows of `width` packed pixels left to right. Requires: width > 0, and
// the pixels are whole rows.
void MirrorRows(int width, std::span<std::uint32_t> pixels);

}  // namespace infeed
