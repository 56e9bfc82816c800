#include "preprocess/augment/operation.h"

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

// Arguments are computed in double precision, and truncated or rounded to
// single precision where the reference does so.
void ApplyAugmentOp(AugmentOp op, int level, const AugmentReach& reach,
                    const OpDraws& draws, PixelImage image,
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
    case kAutoContrast:
      return AutoContrast(image.pixels);
    case kEqualize:
      return Equalize(image.pixels);
    case kInvert:
      return Invert(image.pixels);
    case kRotate:
      return Rotate(signed_part(30), image, scratch.move);
    case kPosterize:
      return Posterize(whole(4), image.pixels);
    case kSolarize:
      return Solarize(whole(256), image.pixels);
    case kSolarizeAdd:
      return SolarizeAdd(whole(110), image.pixels);
    case kColor:
      return AdjustColor(factor, image.pixels);
    case kContrast:
      return AdjustContrast(factor, image.pixels);
    case kBrightness:
      return AdjustBrightness(factor, image.pixels);
    case kSharpness:
      return AdjustSharpness(factor, image, scratch.rows);
    case kShearX:
      return ShearX(signed_part(0.3), image, scratch.move);
    case kShearY:
      return ShearY(signed_part(0.3), image, scratch.move);
    case kTranslateX:
      return TranslateX(signed_part(reach.translate), image, scratch.move);
    case kTranslateY:
      return TranslateY(signed_part(reach.translate), image, scratch.move);
    case kCutout:
      return Cutout(draws.row, draws.column, whole(reach.cutout), image);
  }
}

}  // namespace infeed
