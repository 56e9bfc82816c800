#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "preprocess/augment/augment.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/test_jpeg.h"

// Augmentation of a photograph's 224 x 224 pixels. Items are images; each
// begins with a copy of the photograph, 200 KB.
namespace infeed {
namespace {

constexpr int kSide = 224;
constexpr int kLevel = 9;

const std::vector<std::uint32_t>& Source() {
  static const std::vector<std::uint32_t> kPixels = [] {
    const std::string jpeg = TestJpeg({.width = 500,
                                       .height = 375,
                                       .quality = 96,
                                       .subsampling = Subsampling::k420,
                                       .optimize = true});
    std::vector<std::uint32_t> pixels(std::size_t{kSide} * kSide);
    Preprocessor({.image_size = kSide}, /*training=*/false)
        .Fill(AsBytes(jpeg), {}, pixels);
    return pixels;
  }();
  return kPixels;
}

void Run(benchmark::State& state, auto&& work) {
  std::vector<std::uint32_t> pixels = Source();
  std::uint64_t position = 0;
  for (auto _ : state) {
    pixels = Source();
    work(pixels, position++);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

void Copy(benchmark::State& state) {
  Run(state, [](std::vector<std::uint32_t>&, std::uint64_t) {});
}

void Operation(benchmark::State& state, AugmentOp op) {
  OpScratch scratch;
  const OpDraws draws{.row = kSide / 2, .column = kSide / 2};
  Run(state, [&](std::vector<std::uint32_t>& pixels, std::uint64_t) {
    ApplyAugmentOp(op, kLevel, kRandAugmentReach, draws, {pixels, kSide},
                   scratch);
  });
}

void JitterOne(benchmark::State& state,
               void (*adjust)(double, std::span<std::uint32_t>)) {
  Run(state, [&](std::vector<std::uint32_t>& pixels, std::uint64_t) {
    adjust(0.3F, pixels);
  });
}

void Whole(benchmark::State& state, const AugmentOptions& options) {
  Augmenter augmenter(options, kSide);
  Run(state, [&](std::vector<std::uint32_t>& pixels, std::uint64_t position) {
    augmenter.Apply(pixels, {.position = position});
  });
}

void Register(const std::string& name, auto function, auto... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), function, arguments...)
      ->Unit(benchmark::kMicrosecond);
}

void RegisterAll() {
  Register("Copy", Copy);
  for (const auto& [name, op] : kAugmentOpNames) {
    Register("Operation/" + std::string(name), Operation, op);
  }
  Register("Jitter/Brightness", JitterOne, JitterBrightness);
  Register("Jitter/Contrast", JitterOne, JitterContrast);
  Register("Jitter/Saturation", JitterOne, JitterSaturation);
  Register("Jitter/Hue", JitterOne, JitterHue);
  Register("RandAugment", Whole,
           AugmentOptions{.policy = AugmentPolicy::kRandAugment});
  Register("AutoAugment", Whole,
           AugmentOptions{.policy = AugmentPolicy::kAutoAugment});
  for (const AugmentPolicy policy : {AugmentPolicy::kTrivialAugment,
                                     AugmentPolicy::kTorchvisionRandAugment}) {
    Register(std::string(ChoiceName(policy, kAugmentPolicies)), Whole,
             AugmentOptions{.policy = policy, .magnitude = 9});
  }
  Register("timm_randaugment", Whole,
           AugmentOptions{.policy = AugmentPolicy::kTimmRandAugment,
                          .magnitude = 7,
                          .magnitude_std = 0.5F});
  Register("ColorJitter", Whole,
           AugmentOptions{.brightness = 0.4F,
                          .contrast = 0.4F,
                          .saturation = 0.4F,
                          .hue = 0.1F});
  Register("RandomErasing", Whole, AugmentOptions{.erasing = 0.25F});
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  infeed::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
