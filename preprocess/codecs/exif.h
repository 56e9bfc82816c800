#pragma once

#include <cstddef>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Returns the orientation in the EXIF data of a JPEG, PNG or WebP image, 1..8,
// as in the TIFF standard:
//
//   1 as it is   2 mirrored left to right   3 turned by 180°   4 upside down
//   5 mirrored along the diagonal   6 to be turned by 90° clockwise
//   7 mirrored along the other diagonal   8 to be turned by 270° clockwise
//
// 1 when there is no valid orientation, and for other formats. Reads only the
// segments before the image data of a JPEG; never fails.
[[nodiscard]] int ReadExifOrientation(std::span<const std::byte> image);

// Turns an image according to its orientation, so that the result's is 1.
// Requires: orientation is in 1..8.
void TurnUpright(const RgbView& source, int orientation, RgbImage& image);

}  // namespace infeed
