#pragma once

#include <cstddef>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Returns how the EXIF data of a JPEG, PNG or WebP image says that it is to be
// turned for people to look at, 1..8, as in the TIFF standard:
//
//   1 as it is   2 mirrored left to right   3 turned by 180°   4 upside down
//   5 mirrored along the diagonal   6 to be turned by 90° clockwise
//   7 mirrored along the other diagonal   8 to be turned by 270° clockwise
//
// 1 when it says nothing, or nothing that can be understood, and for other
// formats. Of a JPEG, looks only at the segments before the image's data; never
// fails.
[[nodiscard]] int ReadExifOrientation(std::span<const std::byte> image);

// Turns an image as an orientation says, so that the result's is 1. Requires:
// orientation is in 1..8.
void TurnUpright(const RgbView& source, int orientation, RgbImage& image);

}  // namespace infeed
