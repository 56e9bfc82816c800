#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace infeed {

// The operations of RandAugment, in the order in which it numbers them;
// AutoAugment uses some. docs/augmentation.md says what each does at a level.
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

// "AutoContrast" and so on, as the papers call them.
[[nodiscard]] std::string_view AugmentOpName(AugmentOp op);
// Throws UsageError naming what there is.
[[nodiscard]] AugmentOp ParseAugmentOp(std::string_view name);

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

}  // namespace infeed
