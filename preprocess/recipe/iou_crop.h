#pragma once

#include <span>

#include "base/random.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// The window of torchvision's RandomIoUCrop, as its presets for SSD use it:
// from 0.3 to 1 of each side, its sides' ratio at most 2, at least one box's
// centre in it, and one of these boxes overlaps it by a drawn part. The whole
// image is used as one of seven options, after 50 options without a window
// (torchvision has no such bound), and at once if there are no boxes. boxes:
// x1, y1, x2, y2 in pixels, which are clamped to the image. Requires: the image
// has pixels.
[[nodiscard]] Window IouCropWindow(const ImageSize& source,
                                   std::span<const float> boxes,
                                   RandomSource& random);

}  // namespace infeed
