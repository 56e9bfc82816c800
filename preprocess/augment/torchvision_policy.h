#pragma once

#include "base/random.h"
#include "preprocess/augment/pillow_ops.h"
#include "preprocess/pixels/image_size.h"

// torchvision's policies: 14 operations, whose magnitudes are in 31 bins. They
// draw in torchvision's order.
namespace infeed {

// TrivialAugmentWide(): Below(14), the operation; then, if it has a magnitude,
// Below(31), and if that has a sign, Below(2), 1 for negative.
[[nodiscard]] PillowStep DrawTrivialAugment(RandomSource& random);

// A layer of RandAugment(magnitude=magnitude) for an image of that size:
// Below(14), the operation; then, if its magnitude has a sign, Below(2).
// Requires: 0 <= magnitude < 31.
[[nodiscard]] PillowStep DrawRandAugment(int magnitude, const ImageSize& size,
                                         RandomSource& random);

}  // namespace infeed
