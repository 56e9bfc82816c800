#pragma once

#include <vector>

#include "preprocess/augment/geometric_ops.h"
#include "preprocess/augment/pixels.h"
#include "preprocess/augment/policy.h"

namespace infeed {

// The effect of level 10, in pixels. The reference's constants, for any image
// size.
struct AugmentReach {
  int translate;
  int cutout;
};
constexpr AugmentReach kRandAugmentReach = {.translate = 100, .cutout = 40};
constexpr AugmentReach kAutoAugmentReach = {.translate = 250, .cutout = 100};

// The random values of a chosen operation.
struct OpDraws {
  bool is_negative = false;  // the sign of rotation, shear, translation
  int row = 0;               // the centre of Cutout, a pixel of the image
  int column = 0;
};

// Scratch memory of the operations, kept from image to image. One thread at a
// time.
struct OpScratch {
  MoveScratch move;
  std::vector<float> rows;
};

// Applies an operation at a level, 0 to 10 and above, with the reference
// driver's arguments and results (docs/augmentation.md). Requires: level >= 0.
void ApplyAugmentOp(AugmentOp op, int level, const AugmentReach& reach,
                    const OpDraws& draws, PixelSquare image,
                    OpScratch& scratch);

}  // namespace infeed
