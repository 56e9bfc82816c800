#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace infeed {

// Copies packed pixels (preprocess/pixels/pack.h) as records hold them,
// little-endian, with the low byte of each cleared and each row of `width`
// mirrored if mirror is set. One pass; unless cached is set, as this CPU reads
// the pixels next, with streaming stores, which bypass the caches. Requires:
// packed and destination have equal sizes in bytes and do not overlap, and
// destination has whole rows.
//
// on_piece is called with all of packed, in order, piece by piece, each just
// before it is copied: a checksum that is computed there needs no pass over
// memory of its own.
void CopyPackedPixels(
    std::span<const std::byte> packed, int width, bool mirror,
    std::span<std::uint32_t> destination,
    const std::function<void(std::span<const std::byte>)>& on_piece = {},
    bool cached = false);

// Unpacks packed pixels (pack.h) to R G B bytes, three a pixel, without
// padding. Writes with streaming stores, which bypass the caches, as this CPU
// does not read the batch next. Requires: rgb.size() == 3 * pixels.size(), and
// the two do not overlap.
void UnpackPixels(std::span<const std::uint32_t> pixels,
                  std::span<std::uint8_t> rgb);

// Copies bytes as they are, with streaming stores, too. Requires: the two have
// equal sizes and do not overlap.
void CopyPixelBytes(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace infeed
