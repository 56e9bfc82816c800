#pragma once

#include <cstdint>
#include <span>

namespace infeed {

// Unpacks packed pixels (pack.h) to R G B bytes, three a pixel, without
// padding. Writes with streaming stores, which bypass the caches, as this CPU
// does not read the batch next. Requires: rgb.size() == 3 * pixels.size(), and
// the two do not overlap.
void UnpackPixels(std::span<const std::uint32_t> pixels,
                  std::span<std::uint8_t> rgb);

}  // namespace infeed
