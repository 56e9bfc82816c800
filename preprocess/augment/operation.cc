#include "preprocess/augment/operation.h"

#include <cmath>

#include "preprocess/augment/color_ops.h"

namespace infeed {
namespace {

using enum AugmentOp;

constexpr std::array<SubPolicy, 25> kAutoAugment = {{
    {{{kEqualize, 0.8F, 1}, {kShearY, 0.8F, 4}}},
    {{{kColor, 0.4F, 9}, {kEqualize, 0.6F, 3}}},
    {{{kColor, 0.4F, 1}, {kRotate, 0.6F, 8}}},
    {{{kSolarize, 0.8F, 3}, {kEqualize, 0.4F, 7}}},
    {{{kSolarize, 0.4F, 2}, {kSolarize, 0.6F, 2}}},
    {{{kColor, 0.2F, 0}, {kEqualize, 0.8F, 8}}},
    {{{kEqualize, 0.4F, 8}, {kSolarizeAdd, 0.8F, 3}}},
    {{{kShearX, 0.2F, 9}, {kRotate, 0.6F, 8}}},
    {{{kColor, 0.6F, 1}, {kEqualize, 1.0F, 2}}},
    {{{kInvert, 0.4F, 9}, {kRotate, 0.6F, 0}}},
    {{{kEqualize, 1.0F, 9}, {kShearY, 0.6F, 3}}},
    {{{kColor, 0.4F, 7}, {kEqualize, 0.6F, 0}}},
    {{{kPosterize, 0.4F, 6}, {kAutoContrast, 0.4F, 7}}},
    {{{kSolarize, 0.6F, 8}, {kColor, 0.6F, 9}}},
    {{{kSolarize, 0.2F, 4}, {kRotate, 0.8F, 9}}},
    {{{kRotate, 1.0F, 7}, {kTranslateY, 0.8F, 9}}},
    {{{kShearX, 0.0F, 0}, {kSolarize, 0.8F, 4}}},
    {{{kShearY, 0.8F, 0}, {kColor, 0.6F, 4}}},
    {{{kColor, 1.0F, 0}, {kRotate, 0.6F, 2}}},
    {{{kEqualize, 0.8F, 4}, {kEqualize, 0.0F, 8}}},
    {{{kEqualize, 1.0F, 4}, {kAutoContrast, 0.6F, 2}}},
    {{{kShearY, 0.4F, 7}, {kSolarizeAdd, 0.6F, 7}}},
    {{{kPosterize, 0.8F, 2}, {kSolarize, 0.6F, 10}}},
    {{{kSolarize, 0.6F, 8}, {kEqualize, 0.6F, 1}}},
    {{{kColor, 0.8F, 6}, {kRotate, 0.4F, 5}}},
}};

}  // namespace

std::span<const SubPolicy> AutoAugmentPolicy() { return kAutoAugment; }

// Arguments are computed in double precision, and truncated here or rounded to
// single precision in ApplyAugmentOp() where the reference does so.
double AugmentArgument(AugmentOp op, int level, const AugmentReach& reach,
                       const OpDraws& draws) {
  const double share = level / 10.0;
  const auto whole = [&](double most) { return std::trunc(share * most); };
  const auto signed_part = [&](double most) {
    return draws.is_negative ? -share * most : share * most;
  };
  switch (op) {
    case kAutoContrast:
    case kEqualize:
    case kInvert:
      return 0;
    case kRotate:
      return signed_part(30);
    case kPosterize:
      return whole(4);
    case kSolarize:
      return whole(256);
    case kSolarizeAdd:
      return whole(110);
    case kColor:
    case kContrast:
    case kBrightness:
    case kSharpness:
      return share * 1.8 + 0.1;
    case kShearX:
    case kShearY:
      return signed_part(0.3);
    case kTranslateX:
    case kTranslateY:
      return signed_part(reach.translate);
    case kCutout:
      return whole(reach.cutout);
  }
  return 0;
}

void ApplyAugmentOp(AugmentOp op, int level, const AugmentReach& reach,
                    const OpDraws& draws, PixelImage image,
                    OpScratch& scratch) {
  const double argument = AugmentArgument(op, level, reach, draws);
  const auto real = static_cast<float>(argument);
  const auto whole = static_cast<int>(argument);
  switch (op) {
    case kAutoContrast:
      return AutoContrast(image.pixels);
    case kEqualize:
      return Equalize(image.pixels);
    case kInvert:
      return Invert(image.pixels);
    case kRotate:
      return Rotate(real, image, scratch.move);
    case kPosterize:
      return Posterize(whole, image.pixels);
    case kSolarize:
      return Solarize(whole, image.pixels);
    case kSolarizeAdd:
      return SolarizeAdd(whole, image.pixels);
    case kColor:
      return AdjustColor(real, image.pixels);
    case kContrast:
      return AdjustContrast(real, image.pixels);
    case kBrightness:
      return AdjustBrightness(real, image.pixels);
    case kSharpness:
      return AdjustSharpness(real, image, scratch.rows);
    case kShearX:
      return ShearX(real, image, scratch.move);
    case kShearY:
      return ShearY(real, image, scratch.move);
    case kTranslateX:
      return TranslateX(real, image, scratch.move);
    case kTranslateY:
      return TranslateY(real, image, scratch.move);
    case kCutout:
      return Cutout(draws.row, draws.column, whole, image);
  }
}

}  // namespace infeed
