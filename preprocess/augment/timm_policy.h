#pragma once

#include "base/random.h"
#include "preprocess/augment/pillow_ops.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// A layer of timm's RandAugment "rand-mMAGNITUDE-mstdSTD-inc1" for an image of
// that size: one of 15 operations, with probability 1/2. Draws Below(15), the
// operation; Real(), more than 1/2: none; if std > 0, 12 times Real(), whose
// sum less 6 is about normal: times std, that is added to the magnitude; for a
// magnitude with a sign Real(), more than 1/2: negative; and for a move
// Below(2), 1 for bicubic, 0 for bilinear. Outside of the image is ImageNet's
// mean colour.
[[nodiscard]] PillowStep DrawTimmRandAugment(int magnitude, float std,
                                             const ImageSize& size,
                                             RandomSource& random);

}  // namespace infeed
