#pragma once

#include <string_view>

#include "base/choices.h"

namespace infeed {

// The policy that draws operations for a training image.
enum class AugmentPolicy {
  kNone,
  kRandAugment,     // `layers` operations, drawn from 16, each at `magnitude`
  kAutoAugment,     // one of the 25 pairs of the policy "v0" for ImageNet
  kTrivialAugment,  // torchvision's TrivialAugmentWide
  kTorchvisionRandAugment,  // `layers` of its 14 operations, at `magnitude`
  kTimmRandAugment,  // `layers` of its 15, each with probability 1/2, at about
                     // `magnitude`: "rand-mM-mstdS-inc1"
};

inline constexpr Choices<AugmentPolicy, 6> kAugmentPolicies = {
    {{"none", AugmentPolicy::kNone},
     {"randaugment", AugmentPolicy::kRandAugment},
     {"autoaugment", AugmentPolicy::kAutoAugment},
     {"trivialaugment", AugmentPolicy::kTrivialAugment},
     {"torchvision_randaugment", AugmentPolicy::kTorchvisionRandAugment},
     {"timm_randaugment", AugmentPolicy::kTimmRandAugment}}};

// Pillow's filter for moved pixels.
enum class MoveFilter { kNearest, kBilinear, kBicubic };

// Filters that torchvision's policies accept.
inline constexpr Choices<MoveFilter, 3> kMoveFilters = {
    {{"nearest", MoveFilter::kNearest},
     {"bilinear", MoveFilter::kBilinear},
     {"bicubic", MoveFilter::kBicubic}}};

// Content of RandomErasing's rectangle.
enum class ErasingMode {
  kConstant,  // black
  kMean,      // ImageNet's mean, which is 0 once normalized
  kPixel,     // noise, drawn for each level
};

inline constexpr Choices<ErasingMode, 3> kErasingModes = {
    {{"constant", ErasingMode::kConstant},
     {"mean", ErasingMode::kMean},
     {"pixel", ErasingMode::kPixel}}};

// Augmentation of a training image after resize and flip. The reference uses
// layers 2, magnitude 10; colour jitter and erasing take the factors of
// torchvision's transforms of those names.
struct AugmentOptions {
  AugmentPolicy policy = AugmentPolicy::kNone;
  int layers = 2;           // of each RandAugment; 1 or more
  int magnitude = 10;       // of each RandAugment; 0 to 30; timm's: at most 10
  float magnitude_std = 0;  // of the normal noise of timm's; 0 to 10
  MoveFilter interpolation = MoveFilter::kNearest;
  // ColorJitter: factors are drawn from [1 - x, 1 + x], at least 0; hue from
  // [-x, x], at most 0.5. 0: off.
  float brightness = 0;
  float contrast = 0;
  float saturation = 0;
  float hue = 0;
  float jitter_probability = 1;  // of all four together
  // The probabilities of RandomVerticalFlip (0.5), RandomGrayscale,
  // GaussianBlur(23, (0.1, 2)), RandomSolarize(128) and RandomErasing.
  bool vertical_flip = false;
  float grayscale = 0;
  float blur = 0;
  float solarize = 0;
  float erasing = 0;
  ErasingMode erasing_mode = ErasingMode::kConstant;

  [[nodiscard]] bool is_any_on() const {
    return policy != AugmentPolicy::kNone || has_jitter() || vertical_flip ||
           grayscale > 0 || blur > 0 || solarize > 0 || erasing > 0;
  }
  [[nodiscard]] bool has_jitter() const {
    return jitter_probability > 0 &&
           (brightness > 0 || contrast > 0 || saturation > 0 || hue > 0);
  }

  friend bool operator==(const AugmentOptions&,
                         const AugmentOptions&) = default;
};

// Throws UsageError naming the field that is out of range.
void CheckAugmentOptions(const AugmentOptions& options);

// Throws UsageError for a policy, all of which may move pixels; `what` does not
// follow them: "boxes".
void CheckPixelsStay(std::string_view what, const AugmentOptions& options);

}  // namespace infeed
