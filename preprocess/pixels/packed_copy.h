#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace infeed {

// Copies packed pixels (preprocess/pixels/pack.h) as records hold them,
// little-endian, with the low byte of each cleared and each row of `width`
// mirrored where mirror is set: in one pass, past the caches, as it is not this
// processor that looks at a batch next. Requires: packed has destination's
// bytes, which do not overlap, and destination whole rows.
void CopyPackedPixels(std::span<const std::byte> packed, int width, bool mirror,
                      std::span<std::uint32_t> destination);

}  // namespace infeed
