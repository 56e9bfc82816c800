#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/choices.h"
#include "preprocess/augment/geometric_ops.h"
#include "preprocess/augment/pixels.h"

namespace infeed {

// The operations of RandAugment, in its order of numbers; AutoAugment uses
// some. docs/recipes.md describes the effect of each at a level.
enum class AugmentOp : std::uint8_t {
  kAutoContrast,
  kEqualize,
  kInvert,
  kRotate,
  kPosterize,
  kSolarize,
  kSolarizeAdd,
  kColor,
  kContrast,
  kBrightness,
  kSharpness,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kCutout,
};
constexpr int kAugmentOps = 16;

// The papers' names.
inline constexpr Choices<AugmentOp, kAugmentOps> kAugmentOpNames = {
    {{"AutoContrast", AugmentOp::kAutoContrast},
     {"Equalize", AugmentOp::kEqualize},
     {"Invert", AugmentOp::kInvert},
     {"Rotate", AugmentOp::kRotate},
     {"Posterize", AugmentOp::kPosterize},
     {"Solarize", AugmentOp::kSolarize},
     {"SolarizeAdd", AugmentOp::kSolarizeAdd},
     {"Color", AugmentOp::kColor},
     {"Contrast", AugmentOp::kContrast},
     {"Brightness", AugmentOp::kBrightness},
     {"Sharpness", AugmentOp::kSharpness},
     {"ShearX", AugmentOp::kShearX},
     {"ShearY", AugmentOp::kShearY},
     {"TranslateX", AugmentOp::kTranslateX},
     {"TranslateY", AugmentOp::kTranslateY},
     {"Cutout", AugmentOp::kCutout}}};

struct PolicyStep {
  AugmentOp op;
  float probability;
  int level;
};
using SubPolicy = std::array<PolicyStep, 2>;

// AutoAugment's policy "v0" for ImageNet: 25 pairs, of which an image gets one
// (Cubuk et al., "AutoAugment: learning augmentation policies from data", as
// the reference driver has it).
[[nodiscard]] std::span<const SubPolicy> AutoAugmentPolicy();

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

// The argument of an operation at a level: degrees, a shear, pixels, a factor,
// a number of bits or a level; of Cutout half a side. 0: it has none.
[[nodiscard]] double AugmentArgument(AugmentOp op, int level,
                                     const AugmentReach& reach,
                                     const OpDraws& draws);

// Applies an operation at a level, 0 to 10 and above, with the reference
// driver's arguments and results (docs/recipes.md). Requires: level >= 0.
void ApplyAugmentOp(AugmentOp op, int level, const AugmentReach& reach,
                    const OpDraws& draws, PixelImage image, OpScratch& scratch);

}  // namespace infeed
