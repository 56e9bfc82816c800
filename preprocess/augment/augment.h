#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "preprocess/augment/blur.h"
#include "preprocess/augment/operation.h"
#include "preprocess/augment/options.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// Whether a training sample is turned upside down (vertical_flip).
[[nodiscard]] bool IsUpsideDown(const AugmentOptions& options,
                                const SampleKey& key);

// Augments the pixels of a training slot, after resize and flip: vertical flip,
// colour jitter, the policy, grayscale, blur, solarize, erasing, each if
// enabled. The result depends on (pixels, options, key) alone; the object only
// keeps scratch memory, which it allocates once. One thread at a time: each
// worker has its own.
//
// All draws are from the key's augmentation stream. Each part starts at its own
// Philox block, of four words, so that its draws do not depend on which other
// parts are enabled.
//
//   block 0   colour jitter (DrawJitter())
//   block 2   erasing (DrawErasing())
//   block 8   AutoAugment: Below(25), the pair
//   block 9   of its first operation, block 10 of its second: Real() u, which
//             is applied where u + its probability >= 1; then as below
//   block 8+i layer i of RandAugment, from 0: Below(16), the operation; then
//             Below(2), 1 for a negative sign; Below(height), the row, and
//             Below(width), the column of Cutout's centre
//   block 8   TrivialAugment: DrawTrivialAugment()
//   block 8+i layer i of torchvision's RandAugment: DrawRandAugment()
//   block 64  Real() below 1/2: vertical flip
//   block 65  Real() below the probability: grayscale
//   block 66  Real() below the probability: blur; then Real(), its sigma
//   block 67  Real() below the probability: colour jitter
//   block 68  Real() below the probability: solarize
//   block 128+8i layer i of timm's RandAugment: DrawTimmRandAugment()
//   block 1024 on: the noise of erasing (FillWithNoise())
class Augmenter {
 public:
  // For images of that size. Throws UsageError for options out of range
  // (CheckAugmentOptions()). Requires: both sides > 0.
  Augmenter(const AugmentOptions& options, const ImageSize& size);

  // Requires: pixels.size() == size.pixels(), and the pixels' low bytes are 0.
  void Apply(std::span<std::uint32_t> pixels, const SampleKey& key);

 private:
  void ApplyPolicy(PixelImage image, const SampleKey& key);
  void RandAugment(PixelImage image, const SampleKey& key);
  void AutoAugment(PixelImage image, const SampleKey& key);
  // Applies what draw(random) returns for each layer, whose draws begin at
  // block + blocks * layer.
  void ApplyLayers(std::uint32_t block, std::uint32_t blocks, PixelImage image,
                   const SampleKey& key, auto&& draw);
  void Erase(PixelImage image, const SampleKey& key);

  AugmentOptions options_;
  ImageSize size_;
  OpScratch scratch_;
  BlurScratch blur_scratch_;
};

}  // namespace infeed
