#include "preprocess/augment/augmix.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/augment/pillow_loops.h"
#include "preprocess/augment/torchvision_policy.h"

namespace infeed {
namespace {

constexpr std::uint32_t kChainBlocks = 4;
constexpr std::size_t kChains = 3;

struct MixWeights {
  float original;
  std::array<float, kChains> chains;
};

// The parts into which uniform cuts divide 0..1 have Dirichlet's distribution
// with alpha = 1.
MixWeights DrawWeights(RandomSource& random) {
  const float mixed = random.Real();
  const float cut = random.Real();
  const float other = random.Real();
  const float low = std::min(cut, other);
  const float high = std::max(cut, other);
  return {.original = 1 - mixed,
          .chains = {low * mixed, (high - low) * mixed, (1 - high) * mixed}};
}

std::span<std::uint8_t> Bytes(std::span<std::uint32_t> pixels) {
  return {reinterpret_cast<std::uint8_t*>(pixels.data()), pixels.size_bytes()};
}

void MoveInZeros(const PillowStep& step, PixelImage image,
                 MoveScratch& scratch) {
  const Affine affine = SourceOfMove(step, image.size);
  CopySource(0, image, scratch);
  for (int y = 0; y < image.size.height; ++y) {
    InterpolateRowInZeros(affine, y, scratch.source.data(), image.size.height,
                          image.row_span(y));
  }
}

void MixSharpness(double factor, PixelImage image, MoveScratch& scratch) {
  CopySource(0, image, scratch);
  const std::span<std::uint8_t> source = Bytes(scratch.source);
  const std::size_t stride = image.row_span(0).size_bytes();
  const auto own = static_cast<float>(factor);
  const auto smooth_part = static_cast<float>(1.0 - factor);
  for (int y = 1; y + 1 < image.size.height; ++y) {
    const std::uint8_t* const beside =
        source.data() + static_cast<std::size_t>(y) * stride;
    MixWithSmooth(own, smooth_part, beside - stride, beside, beside + stride,
                  Bytes(image.row_span(y)));
  }
}

}  // namespace

void ApplyTensorStep(const PillowStep& step, PixelImage image,
                     MoveScratch& scratch) {
  const double factor = step.argument;
  switch (step.op) {
    case PillowOp::kShearX:
    case PillowOp::kShearY:
    case PillowOp::kTranslateX:
    case PillowOp::kTranslateY:
    case PillowOp::kRotate:
      return MoveInZeros(step, image, scratch);
    case PillowOp::kBrightness:
      return JitterBrightness(factor, image.pixels);
    case PillowOp::kColor:
      return JitterSaturation(factor, image.pixels);
    case PillowOp::kContrast:
      return JitterContrast(factor, image.pixels);
    case PillowOp::kSharpness:
      return MixSharpness(factor, image, scratch);
    case PillowOp::kAutoContrast:
      return ScaleLevels(image.pixels);
    default:
      return ApplyPillowStep(step, image, scratch);
  }
}

void AugMix(int severity, const SampleKey& key, std::uint32_t block,
            PixelImage image, AugMixScratch& scratch) {
  const auto draws = [&](std::size_t part) {
    return SampleRandom(
        key, RandomStream::kAugmentation,
        block + kChainBlocks * static_cast<std::uint32_t>(part));
  };
  SampleRandom random = draws(0);
  const MixWeights weights = DrawWeights(random);
  scratch.original.assign(image.pixels.begin(), image.pixels.end());
  scratch.sums.assign(image.pixels.size_bytes(), 0);
  AddWeighed(weights.original, Bytes(image.pixels), scratch.sums);
  for (std::size_t i = 0; i < kChains; ++i) {
    std::ranges::copy(scratch.original, image.pixels.begin());
    SampleRandom chain = draws(i + 1);
    for (std::uint32_t left = chain.Below(3) + 1; left > 0; --left) {
      ApplyTensorStep(DrawAugMix(severity, image.size, chain), image,
                      scratch.move);
    }
    AddWeighed(weights.chains[i], Bytes(image.pixels), scratch.sums);
  }
  Truncate(scratch.sums, Bytes(image.pixels));
}

}  // namespace infeed
