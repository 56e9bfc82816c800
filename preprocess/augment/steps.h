#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/augment/operation.h"
#include "preprocess/augment/options.h"
#include "preprocess/augment/pillow_ops.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pixel_hash.h"

namespace infeed {

// The steps of an augmentation, with all that was drawn for them.
struct UpsideDownStep {};
struct PolicyOpStep {  // of the reference's RandAugment or AutoAugment
  AugmentOp op;
  int level;
  AugmentReach reach;
  OpDraws draws;
};
struct GrayStep {};
struct BlurStep {
  float sigma;
};
struct SolarizeStep {};  // at kSolarizeThreshold
struct ErasingStep {
  Window window;
  ErasingMode mode;
  SampleRandom noise;  // of ErasingMode::kPixel
};

inline constexpr int kSolarizeThreshold = 128;

using AugmentStep =
    std::variant<UpsideDownStep, Jitter, PolicyOpStep, PillowStep, GrayStep,
                 BlurStep, SolarizeStep, ErasingStep>;

// The most steps of a sample.
[[nodiscard]] std::size_t MostAugmentSteps(const AugmentOptions& options);

// Whether a training sample is turned upside down (vertical_flip).
[[nodiscard]] bool IsUpsideDown(const AugmentOptions& options,
                                const SampleKey& key);

// Draws the augmentation of a training sample: its steps in their order, in
// place of what `steps` holds. Operations that leave the image as it is,
// Identity, are left out. size: of the image.
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
void DrawAugmentation(const AugmentOptions& options, const ImageSize& size,
                      const SampleKey& key, std::vector<AugmentStep>& steps);

// The step's name and its strengths, four digits of each: "Rotate -30",
// "Cutout 40 at 12 7" (row and column), "ColorJitter contrast 0.9 hue 0.05" in
// the order of their application, "GaussianBlur 1.2",
// "RandomErasing constant 3 5 40 20" (y, x, height, width). The numbers of an
// operation are its arguments (AugmentArgument(), PillowStep).
[[nodiscard]] std::string AugmentStepText(const AugmentStep& step);

// Adds the step and all that was drawn for it.
void AddStep(const AugmentStep& step, HashChain& hash);

}  // namespace infeed
