#pragma once

#include <cstdint>

#include "base/random.h"
#include "preprocess/augment/geometric_ops.h"
#include "preprocess/augment/options.h"
#include "preprocess/augment/pixels.h"
#include "preprocess/pixels/image_size.h"

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

// Below, the policies of torchvision, with 14 operations whose magnitudes are
// in 31 bins, and of timm. They draw in the order of these libraries.

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
