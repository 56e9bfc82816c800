#include "preprocess/augment/augment.h"

#include <cstddef>
#include <optional>

#include "base/error.h"
#include "preprocess/augment/erasing.h"
#include "preprocess/augment/jitter.h"

namespace infeed {
namespace {

// The Philox block at which each part's draws start; augment.h has the table.
constexpr std::uint32_t kJitterBlock = 0;
constexpr std::uint32_t kErasingBlock = 2;
constexpr std::uint32_t kPolicyBlock = 8;

SampleRandom DrawsFrom(const SampleKey& key, std::uint32_t block) {
  return SampleRandom(key, RandomStream::kAugmentation, block);
}

OpDraws DrawOp(int side, RandomSource& random) {
  const auto pixel = [&] {
    return static_cast<int>(random.Below(static_cast<std::uint32_t>(side)));
  };
  OpDraws draws;
  draws.is_negative = random.Below(2) == 1;
  draws.row = pixel();
  draws.column = pixel();
  return draws;
}

}  // namespace

Augmenter::Augmenter(const AugmentOptions& options, int side)
    : options_(options), side_(side) {
  Check(side > 0, "an image has pixels");
  CheckAugmentOptions(options);
}

void Augmenter::Apply(std::span<std::uint32_t> pixels, const SampleKey& key) {
  Check(pixels.size() ==
            static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_),
        "pixels are those of one image");
  const PixelSquare image{.pixels = pixels, .side = side_};
  if (options_.has_jitter()) {
    SampleRandom random = DrawsFrom(key, kJitterBlock);
    ApplyJitter(DrawJitter(options_, random), pixels);
  }
  ApplyPolicy(image, key);
  if (options_.erasing > 0) {
    SampleRandom random = DrawsFrom(key, kErasingBlock);
    if (const std::optional<Window> window =
            DrawErasing(options_.erasing, side_, random)) {
      FillWindow(*window, 0, image);
    }
  }
}

void Augmenter::ApplyPolicy(PixelSquare image, const SampleKey& key) {
  switch (options_.policy) {
    case AugmentPolicy::kNone:
      return;
    case AugmentPolicy::kRandAugment:
      return RandAugment(image, key);
    case AugmentPolicy::kAutoAugment:
      return AutoAugment(image, key);
  }
}

void Augmenter::RandAugment(PixelSquare image, const SampleKey& key) {
  for (int layer = 0; layer < options_.layers; ++layer) {
    SampleRandom random =
        DrawsFrom(key, kPolicyBlock + static_cast<std::uint32_t>(layer));
    const auto op = static_cast<AugmentOp>(random.Below(kAugmentOps));
    ApplyAugmentOp(op, options_.magnitude, kRandAugmentReach,
                   DrawOp(side_, random), image, scratch_);
  }
}

void Augmenter::AutoAugment(PixelSquare image, const SampleKey& key) {
  const std::span<const SubPolicy> policy = AutoAugmentPolicy();
  std::uint32_t block = kPolicyBlock;
  const SubPolicy& pair =
      policy[DrawsFrom(key, block)
                 .Below(static_cast<std::uint32_t>(policy.size()))];
  for (const PolicyStep& step : pair) {
    SampleRandom random = DrawsFrom(key, ++block);
    if (random.Real() + step.probability >= 1.0F) {
      ApplyAugmentOp(step.op, step.level, kAutoAugmentReach,
                     DrawOp(side_, random), image, scratch_);
    }
  }
}

}  // namespace infeed
