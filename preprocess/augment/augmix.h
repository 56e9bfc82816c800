#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "preprocess/augment/geometric_ops.h"
#include "preprocess/augment/pillow_ops.h"

namespace infeed {

// Scratch memory of AugMix, kept from image to image.
struct AugMixScratch {
  std::vector<std::uint32_t> original;
  std::vector<float> sums;
  MoveScratch move;
};

// An operation as torchvision's functions for tensors have it: moves
// interpolate linearly, with 0 outside of the image.
void ApplyTensorStep(const PillowStep& step, PixelImage image,
                     MoveScratch& scratch);

// torchvision's AugMix(severity): the original and three chains of one to three
// operations, mixed. Draws from the augmentation stream: at block, Real() m and
// twice Real(), which cut 0..1 into the weights of the chains, each times m, so
// that the original's is 1 - m; at block + 4 + 4 i Below(3), one less than the
// operations of chain i, and DrawAugMix() for each. Requires: 1 <= severity <=
// 10.
void AugMix(int severity, const SampleKey& key, std::uint32_t block,
            PixelImage image, AugMixScratch& scratch);

}  // namespace infeed
