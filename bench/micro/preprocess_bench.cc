#include <string>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "bench/common/photograph.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/test_jpeg.h"

// One image of ImageNet's usual size and quality; the argument chooses the
// sampling. Items are images.
namespace infeed {
namespace {

constexpr int kSize = 224;
// Each image uses the next of this many random windows, as in training.
constexpr std::uint64_t kWindows = 64;

void Samplings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("subsampling")
      ->Arg(static_cast<int>(Subsampling::k444))
      ->Arg(static_cast<int>(Subsampling::k420))
      ->Unit(benchmark::kMicrosecond);
}

void ReadHeader(benchmark::State& state) {
  const std::string jpeg = Photograph(state.range(0));
  JpegDecoder decoder;
  for (auto _ : state) {
    benchmark::DoNotOptimize(decoder.ReadHeader(AsBytes(jpeg)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ReadHeader)->Apply(Samplings);

void DecodeWhole(benchmark::State& state) {
  const std::string jpeg = Photograph(state.range(0));
  JpegDecoder decoder;
  RgbImage image;
  for (auto _ : state) {
    std::ignore = decoder.ReadHeader(AsBytes(jpeg));
    decoder.Decode(image);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DecodeWhole)->Apply(Samplings);

void DecodeWindow(benchmark::State& state) {
  const std::string jpeg = Photograph(state.range(0));
  JpegDecoder decoder;
  RgbImage image;
  std::uint64_t position = 0;
  for (auto _ : state) {
    SampleRandom random({.position = position++ % kWindows},
                        RandomStream::kCrop);
    std::ignore = decoder.ReadHeader(AsBytes(jpeg));
    decoder.DecodeWindow(
        RandomCropWindow(kPhotographHeight, kPhotographWidth, random), image);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DecodeWindow)->Apply(Samplings);

void TrainingRecipe(benchmark::State& state) {
  const std::string jpeg = Photograph(state.range(0));
  Preprocessor preprocessor({.image_size = kSize}, /*training=*/true);
  std::vector<std::uint32_t> pixels(std::size_t{kSize} * kSize);
  std::uint64_t position = 0;
  for (auto _ : state) {
    const SampleKey key{.position = position++ % kWindows};
    preprocessor.Fill(AsBytes(jpeg), key, pixels);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(TrainingRecipe)->Apply(Samplings);

}  // namespace
}  // namespace infeed
