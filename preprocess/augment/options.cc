#include "preprocess/augment/options.h"

#include <string>

#include "base/error.h"

namespace infeed {
namespace {

void CheckFactor(std::string_view name, float value, float high) {
  if (!(value >= 0 && value <= high)) {
    throw UsageError(std::string(name) + " is " + std::to_string(value) +
                     ": give a number from 0 to " + std::to_string(high));
  }
}

}  // namespace

void CheckAugmentOptions(const AugmentOptions& options) {
  if (options.layers < 1 || options.layers > 16) {
    throw UsageError("augment layers is " + std::to_string(options.layers) +
                     ": give a number from 1 to 16");
  }
  if (options.magnitude < 0 || options.magnitude > 30) {
    throw UsageError("augment magnitude is " +
                     std::to_string(options.magnitude) +
                     ": give a number from 0 to 30");
  }
  CheckFactor("augment magnitude_std", options.magnitude_std, 10);
  CheckFactor("brightness", options.brightness, 10);
  CheckFactor("contrast", options.contrast, 10);
  CheckFactor("saturation", options.saturation, 10);
  CheckFactor("hue", options.hue, 0.5F);
  CheckFactor("jitter_probability", options.jitter_probability, 1);
  CheckFactor("grayscale", options.grayscale, 1);
  CheckFactor("blur", options.blur, 1);
  CheckFactor("solarize", options.solarize, 1);
  CheckFactor("erasing", options.erasing, 1);
}

void CheckPixelsStay(std::string_view what, const AugmentOptions& options) {
  if (options.policy != AugmentPolicy::kNone) {
    throw UsageError(
        "augment=" + std::string(ChoiceName(options.policy, kAugmentPolicies)) +
        " moves pixels, which " + std::string(what) +
        " do not follow: leave it out");
  }
}

}  // namespace infeed
