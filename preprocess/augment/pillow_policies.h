#pragma once

#include "base/random.h"
#include "preprocess/augment/pillow_ops.h"
#include "preprocess/pixels/image_size.h"

// The policies of torchvision, with 14 operations whose magnitudes are in 31
// bins, and of timm. They draw in the order of these libraries.
namespace infeed {

// TrivialAugmentWide(): Below(14), the operation; then, if it has a magnitude,
// Below(31), and if that has a sign, Below(2), 1 for negative.
[[nodiscard]] PillowStep DrawTrivialAugment(RandomSource& random);

// A layer of RandAugment(magnitude=magnitude) for an image of that size:
// Below(14), the operation; then, if its magnitude has a sign, Below(2).
// Requires: 0 <= magnitude < 31.
[[nodiscard]] PillowStep DrawRandAugment(int magnitude, const ImageSize& size,
                                         RandomSource& random);

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
