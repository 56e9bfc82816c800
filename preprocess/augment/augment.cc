#include "preprocess/augment/augment.h"

#include <algorithm>
#include <variant>

#include "base/error.h"
#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/erasing.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/augment/pillow_ops.h"

namespace infeed {
namespace {

void FlipRows(PixelImage image) {
  const auto [height, width] = image.size;
  for (int y = 0; y < height / 2; ++y) {
    std::swap_ranges(image.row(y), image.row(y) + width,
                     image.row(height - 1 - y));
  }
}

// Applies a step to an image.
struct StepApplier {
  PixelImage image;
  OpScratch& scratch;
  BlurScratch& blur_scratch;

  void operator()(const UpsideDownStep& /*step*/) const { FlipRows(image); }
  void operator()(const Jitter& jitter) const {
    ApplyJitter(jitter, image.pixels);
  }
  void operator()(const PolicyOpStep& step) const {
    ApplyAugmentOp(step.op, step.level, step.reach, step.draws, image, scratch);
  }
  void operator()(const PillowStep& step) const {
    ApplyPillowStep(step, image, scratch.move);
  }
  void operator()(const GrayStep& /*step*/) const {
    JitterSaturation(0, image.pixels);  // Gray has no saturation.
  }
  void operator()(const BlurStep& step) const {
    GaussianBlur(step.sigma, image, blur_scratch);
  }
  void operator()(const SolarizeStep& /*step*/) const {
    Solarize(kSolarizeThreshold, image.pixels);
  }
  void operator()(const ErasingStep& step) const {
    if (step.mode == ErasingMode::kPixel) {
      SampleRandom noise = step.noise;
      FillWithNoise(step.window, image, noise);
    } else {
      const bool is_mean = step.mode == ErasingMode::kMean;
      FillWindow(step.window, is_mean ? MeanPixel() : 0, image);
    }
  }
};

}  // namespace

Augmenter::Augmenter(const AugmentOptions& options, const ImageSize& size)
    : options_(options), size_(size) {
  Check(size.shorter() > 0, "an image has pixels");
  CheckAugmentOptions(options);
  steps_.reserve(MostAugmentSteps(options));
}

void Augmenter::Apply(std::span<std::uint32_t> pixels, const SampleKey& key) {
  Check(pixels.size() == size_.pixels(), "pixels are those of one image");
  DrawAugmentation(options_, size_, key, steps_);
  const StepApplier apply = {.image = {.pixels = pixels, .size = size_},
                             .scratch = scratch_,
                             .blur_scratch = blur_scratch_};
  for (const AugmentStep& step : steps_) {
    std::visit(apply, step);
  }
}

}  // namespace infeed
