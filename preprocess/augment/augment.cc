#include "preprocess/augment/augment.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/erasing.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/augment/pillow_ops.h"
#include "preprocess/augment/pillow_policies.h"

namespace infeed {
namespace {

// The Philox block at which each part's draws start; augment.h has the table.
constexpr std::uint32_t kJitterBlock = 0;
constexpr std::uint32_t kErasingBlock = 2;
constexpr std::uint32_t kPolicyBlock = 8;
constexpr std::uint32_t kVerticalBlock = 64;
constexpr std::uint32_t kGrayscaleBlock = 65;
constexpr std::uint32_t kBlurBlock = 66;
constexpr std::uint32_t kWhetherJitterBlock = 67;
constexpr std::uint32_t kSolarizeBlock = 68;
constexpr std::uint32_t kTimmBlock = 128;
constexpr std::uint32_t kTimmBlocks = 8;  // of each layer
constexpr std::uint32_t kNoiseBlock = 1024;

SampleRandom DrawsFrom(const SampleKey& key, std::uint32_t block) {
  return SampleRandom(key, RandomStream::kAugmentation, block);
}

OpDraws DrawOp(const ImageSize& size, RandomSource& random) {
  const auto pixel = [&](int length) {
    return static_cast<int>(random.Below(static_cast<std::uint32_t>(length)));
  };
  OpDraws draws;
  draws.is_negative = random.Below(2) == 1;
  draws.row = pixel(size.height);
  draws.column = pixel(size.width);
  return draws;
}

float DrawSigma(RandomSource& random) {
  constexpr float kLeast = 0.1F;
  constexpr float kMost = 2;
  return kLeast + random.Real() * (kMost - kLeast);
}

void FlipRows(PixelImage image) {
  const auto [height, width] = image.size;
  for (int y = 0; y < height / 2; ++y) {
    std::swap_ranges(image.row(y), image.row(y) + width,
                     image.row(height - 1 - y));
  }
}

PillowStep WithFilter(PillowStep step, MoveFilter filter) {
  step.filter = filter;
  return step;
}

}  // namespace

bool IsUpsideDown(const AugmentOptions& options, const SampleKey& key) {
  return options.vertical_flip && DrawsFrom(key, kVerticalBlock).Real() < 0.5F;
}

Augmenter::Augmenter(const AugmentOptions& options, const ImageSize& size)
    : options_(options), size_(size) {
  Check(size.shorter() > 0, "an image has pixels");
  CheckAugmentOptions(options);
}

void Augmenter::Apply(std::span<std::uint32_t> pixels, const SampleKey& key) {
  Check(pixels.size() == size_.pixels(), "pixels are those of one image");
  const PixelImage image{.pixels = pixels, .size = size_};
  const auto draw = [&](std::uint32_t block, float probability) {
    return probability > 0 && DrawsFrom(key, block).Real() < probability;
  };
  if (IsUpsideDown(options_, key)) {
    FlipRows(image);
  }
  if (options_.has_jitter() &&
      draw(kWhetherJitterBlock, options_.jitter_probability)) {
    SampleRandom random = DrawsFrom(key, kJitterBlock);
    ApplyJitter(DrawJitter(options_, random), pixels);
  }
  ApplyPolicy(image, key);
  if (draw(kGrayscaleBlock, options_.grayscale)) {
    JitterSaturation(0, pixels);  // Gray has no saturation.
  }
  if (SampleRandom random = DrawsFrom(key, kBlurBlock);
      random.Real() < options_.blur) {
    GaussianBlur(DrawSigma(random), image, blur_scratch_);
  }
  if (draw(kSolarizeBlock, options_.solarize)) {
    Solarize(128, pixels);
  }
  if (options_.erasing > 0) {
    Erase(image, key);
  }
}

void Augmenter::Erase(PixelImage image, const SampleKey& key) {
  SampleRandom random = DrawsFrom(key, kErasingBlock);
  const std::optional<Window> window =
      DrawErasing(options_.erasing, size_, random);
  if (window && options_.erasing_mode == ErasingMode::kPixel) {
    SampleRandom noise = DrawsFrom(key, kNoiseBlock);
    FillWithNoise(*window, image, noise);
  } else if (window) {
    const bool is_mean = options_.erasing_mode == ErasingMode::kMean;
    FillWindow(*window, is_mean ? MeanPixel() : 0, image);
  }
}

void Augmenter::ApplyLayers(std::uint32_t block, std::uint32_t blocks,
                            PixelImage image, const SampleKey& key,
                            auto&& draw) {
  for (int layer = 0; layer < options_.layers; ++layer) {
    SampleRandom random = DrawsFrom(key, block);
    ApplyPillowStep(draw(random), image, scratch_.move);
    block += blocks;
  }
}

void Augmenter::ApplyPolicy(PixelImage image, const SampleKey& key) {
  switch (options_.policy) {
    case AugmentPolicy::kNone:
      return;
    case AugmentPolicy::kRandAugment:
      return RandAugment(image, key);
    case AugmentPolicy::kAutoAugment:
      return AutoAugment(image, key);
    case AugmentPolicy::kTrivialAugment: {
      SampleRandom random = DrawsFrom(key, kPolicyBlock);
      return ApplyPillowStep(
          WithFilter(DrawTrivialAugment(random), options_.interpolation), image,
          scratch_.move);
    }
    case AugmentPolicy::kTorchvisionRandAugment:
      return ApplyLayers(kPolicyBlock, 1, image, key, [&](auto& random) {
        return WithFilter(DrawRandAugment(options_.magnitude, size_, random),
                          options_.interpolation);
      });
    case AugmentPolicy::kTimmRandAugment:
      return ApplyLayers(
          kTimmBlock, kTimmBlocks, image, key, [&](auto& random) {
            return DrawTimmRandAugment(options_.magnitude,
                                       options_.magnitude_std, size_, random);
          });
  }
}

void Augmenter::RandAugment(PixelImage image, const SampleKey& key) {
  for (int layer = 0; layer < options_.layers; ++layer) {
    SampleRandom random =
        DrawsFrom(key, kPolicyBlock + static_cast<std::uint32_t>(layer));
    const auto op = static_cast<AugmentOp>(random.Below(kAugmentOps));
    ApplyAugmentOp(op, options_.magnitude, kRandAugmentReach,
                   DrawOp(size_, random), image, scratch_);
  }
}

void Augmenter::AutoAugment(PixelImage image, const SampleKey& key) {
  const std::span<const SubPolicy> policy = AutoAugmentPolicy();
  std::uint32_t block = kPolicyBlock;
  const SubPolicy& pair =
      policy[DrawsFrom(key, block)
                 .Below(static_cast<std::uint32_t>(policy.size()))];
  for (const PolicyStep& step : pair) {
    SampleRandom random = DrawsFrom(key, ++block);
    if (random.Real() + step.probability >= 1.0F) {
      ApplyAugmentOp(step.op, step.level, kAutoAugmentReach,
                     DrawOp(size_, random), image, scratch_);
    }
  }
}

}  // namespace infeed
