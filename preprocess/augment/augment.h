#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "preprocess/augment/blur.h"
#include "preprocess/augment/operation.h"
#include "preprocess/augment/options.h"
#include "preprocess/augment/steps.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// Augments the pixels of a training slot, after resize and flip: vertical flip,
// colour jitter, the policy, grayscale, blur, solarize, erasing, each if
// enabled, as DrawAugmentation() draws them. The result depends on (pixels,
// options, key) alone; the object only keeps scratch memory, which it allocates
// once. One thread at a time: each worker has its own.
class Augmenter {
 public:
  // For images of that size. Throws UsageError for options out of range
  // (CheckAugmentOptions()). Requires: both sides > 0.
  Augmenter(const AugmentOptions& options, const ImageSize& size);

  // Requires: pixels.size() == size.pixels(), and the pixels' low bytes are 0.
  void Apply(std::span<std::uint32_t> pixels, const SampleKey& key);

  // The steps of the last image.
  [[nodiscard]] std::span<const AugmentStep> steps() const { return steps_; }

 private:
  AugmentOptions options_;
  ImageSize size_;
  std::vector<AugmentStep> steps_;
  OpScratch scratch_;
  BlurScratch blur_scratch_;
};

}  // namespace infeed
