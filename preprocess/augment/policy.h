#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace infeed {

// The operations of RandAugment, in its order of numbers; AutoAugment uses
// some. docs/augmentation.md describes the effect of each at a level.
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

// The papers' names: "AutoContrast" and so on.
[[nodiscard]] std::string_view AugmentOpName(AugmentOp op);
// Throws UsageError that lists the valid names.
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
