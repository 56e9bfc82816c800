#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/random.h"
#include "pipeline/batch.h"
#include "preprocess/bicubic_sink.h"
#include "preprocess/crop.h"
#include "preprocess/pack.h"
#include "preprocess/row_sink.h"
#include "preprocess/simd_target.h"
#include "tests/support/test_jpeg.h"

// A crop to a packed slot of 224x224, without the decode: the sink on each SIMD
// target, and OpenCV's bicubic resize with the pack. Crops are the training
// recipe's of an image of ImageNet's usual size, or squares. Items are images.
// For a comparison on a busy machine, of the least of short repetitions:
//   resize_bench --benchmark_enable_random_interleaving=true
//     --benchmark_repetitions=99 --benchmark_min_time=0.003
//     --benchmark_report_aggregates_only=true
namespace infeed {
namespace {

constexpr int kSize = 224;
constexpr int kBand = 16;  // rows of an MCU of 4:2:0
constexpr std::uint64_t kWindows = 64;
constexpr int kSlots = 256;  // more than caches hold, as a pool's

// side 0: the windows of random crops; else one square.
std::vector<Window> Windows(int side, const RgbImage& image) {
  if (side > 0) {
    return {{.y = 0, .x = 0, .height = side, .width = side}};
  }
  std::vector<Window> windows;
  for (std::uint64_t position = 0; position < kWindows; ++position) {
    SampleRandom random({.position = position}, RandomStream::kCrop);
    windows.push_back(RandomCropWindow(image.height(), image.width(), random));
  }
  return windows;
}

RgbImage Image(int side) {
  return side > 0 ? TestPhotograph(side, side, 1) : TestPhotograph(500, 375, 1);
}

// Manual time: that of the sink, without the decoder's writing of the rows.
void Sink(benchmark::State& state, const std::string& target, int side) {
  UseSimdTarget(target);
  const RgbImage image = Image(side);
  const std::vector<Window> windows = Windows(side, image);
  Batch batch(kSlots, kSize);
  std::ranges::fill(batch.pixels(), 1);  // its pages are there from now on
  BicubicSink sink(kSize);
  std::size_t next = 0;
  for (auto _ : state) {
    sink.Aim(batch.slot_pixels(static_cast<int>(next % kSlots)), next % 2 == 1);
    PutImage(image.view(windows[next++ % windows.size()]), sink, kBand);
    state.SetIterationTime(std::chrono::duration<double>(sink.busy()).count());
  }
  state.SetItemsProcessed(state.iterations());
  UseSimdTarget("");
}

void OpenCv(benchmark::State& state, int side) {
  cv::setNumThreads(1);
  const RgbImage image = Image(side);
  const std::vector<Window> windows = Windows(side, image);
  Batch batch(kSlots, kSize);
  std::ranges::fill(batch.pixels(), 1);  // its pages are there from now on
  cv::Mat resized(kSize, kSize, CV_8UC3);
  std::size_t next = 0;
  for (auto _ : state) {
    const RgbView source = image.view(windows[next % windows.size()]);
    const auto start = std::chrono::steady_clock::now();
    // OpenCV only reads through this.
    const cv::Mat from(source.height, source.width, CV_8UC3,
                       const_cast<std::uint8_t*>(source.pixels),
                       static_cast<std::size_t>(source.stride));
    cv::resize(from, resized, resized.size(), 0, 0, cv::INTER_CUBIC);
    PackImage({resized.data, kSize, kSize, std::ptrdiff_t{3} * kSize},
              next % 2 == 1,
              batch.slot_pixels(static_cast<int>(next % kSlots)));
    ++next;
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count());
  }
  state.SetItemsProcessed(state.iterations());
}

void Register() {
  for (const int side : {0, 112, 290, 896, 1800}) {
    const std::string crop =
        side == 0 ? "random_crops" : "square:" + std::to_string(side);
    const auto add = [](benchmark::internal::Benchmark* one) {
      one->UseManualTime()->Unit(benchmark::kMicrosecond);
      one->ComputeStatistics("least", [](const std::vector<double>& times) {
        return *std::ranges::min_element(times);
      });
    };
    for (const std::string& target : SupportedSimdTargets()) {
      const std::string name = std::string("Sink/").append(crop) += "/";
      add(benchmark::RegisterBenchmark((name + target).c_str(), Sink, target,
                                       side));
    }
    add(benchmark::RegisterBenchmark(("OpenCV/" + crop).c_str(), OpenCv, side));
  }
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  infeed::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
