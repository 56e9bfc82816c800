#pragma once

#include <cstdint>

#include "preprocess/augment/geometric_ops.h"
#include "preprocess/augment/options.h"
#include "preprocess/augment/pixels.h"

// Pillow's operations on images of bytes, as torchvision's and timm's policies
// use them; byte for byte, which the operations of the reference are not.
namespace infeed {

enum class PillowOp : std::uint8_t {
  kIdentity,
  kShearX,      // (x, y) is the source at (x + argument y, y)
  kShearY,      // (x, y + argument x)
  kTranslateX,  // (x + argument, y)
  kTranslateY,  // (x, y + argument)
  kRotate,      // degrees, counter-clockwise, about the centre
  kBrightness,  // blended from black by the argument: 0 black, 1 the image
  kColor,       // blended from its gray
  kContrast,    // blended from the mean of its gray
  kSharpness,   // blended from its smoothed image
  kPosterize,   // the bits that are kept, 0 to 8
  kSolarize,    // inverts levels that are not below the argument
  kAutoContrast,
  kEqualize,
  kInvert,
  kSolarizeAdd,  // added to levels below 128
};

// An operation with its argument, 0 where it has none, and its moves' filter
// and pixel for places outside the image.
struct PillowStep {
  PillowOp op = PillowOp::kIdentity;
  double argument = 0;
  MoveFilter filter = MoveFilter::kNearest;
  std::uint32_t outside = 0;
};

// Requires: a translation with kNearest is by whole pixels.
void ApplyPillowStep(const PillowStep& step, PixelImage image,
                     MoveScratch& scratch);

}  // namespace infeed
