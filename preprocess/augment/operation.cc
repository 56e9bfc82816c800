#include "preprocess/augment/operation.h"

#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/histogram_ops.h"

namespace infeed {

// Arguments are computed in double precision, and truncated or rounded to
// single precision where the reference does so.
void ApplyAugmentOp(AugmentOp op, int level, const AugmentReach& reach,
                    const OpDraws& draws, PixelSquare image,
                    OpScratch& scratch) {
  const double share = level / 10.0;
  const auto whole = [&](double most) {
    return static_cast<int>(share * most);
  };
  const auto signed_part = [&](double most) {
    return static_cast<float>(draws.is_negative ? -share * most : share * most);
  };
  const auto factor = static_cast<float>(share * 1.8 + 0.1);
  switch (op) {
    case AugmentOp::kAutoContrast:
      return AutoContrast(image.pixels);
    case AugmentOp::kEqualize:
      return Equalize(image.pixels);
    case AugmentOp::kInvert:
      return Invert(image.pixels);
    case AugmentOp::kRotate:
      return Rotate(signed_part(30), image, scratch.move);
    case AugmentOp::kPosterize:
      return Posterize(whole(4), image.pixels);
    case AugmentOp::kSolarize:
      return Solarize(whole(256), image.pixels);
    case AugmentOp::kSolarizeAdd:
      return SolarizeAdd(whole(110), image.pixels);
    case AugmentOp::kColor:
      return AdjustColor(factor, image.pixels);
    case AugmentOp::kContrast:
      return AdjustContrast(factor, image.pixels);
    case AugmentOp::kBrightness:
      return AdjustBrightness(factor, image.pixels);
    case AugmentOp::kSharpness:
      return AdjustSharpness(factor, image, scratch.rows);
    case AugmentOp::kShearX:
      return ShearX(signed_part(0.3), image, scratch.move);
    case AugmentOp::kShearY:
      return ShearY(signed_part(0.3), image, scratch.move);
    case AugmentOp::kTranslateX:
      return TranslateX(signed_part(reach.translate), image, scratch.move);
    case AugmentOp::kTranslateY:
      return TranslateY(signed_part(reach.translate), image, scratch.move);
    case AugmentOp::kCutout:
      return Cutout(draws.row, draws.column, whole(reach.cutout), image);
  }
}

}  // namespace infeed
