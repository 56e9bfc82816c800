#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/random.h"
#include "base/seconds.h"
#include "pipeline/memory/batch.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/pixels/simd_target.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/resize/sink.h"
#include "tests/support/test_jpeg.h"

// A crop to a packed slot of 224x224, without the decode: the sinks on each
// SIMD target, and OpenCV's resizes with the pack. Crops are the training
// recipe's of an image of ImageNet's usual size, or squares; "median" is the
// median crop of torchvision's. Items are images. To compare the minima of
// short repetitions on a busy machine:
//   resize_bench --benchmark_enable_random_interleaving=true
//     --benchmark_repetitions=99 --benchmark_min_time=0.003
//     --benchmark_report_aggregates_only=true
namespace infeed {
namespace {

constexpr int kSize = 224;
constexpr int kBand = 16;  // rows of an MCU of 4:2:0
constexpr std::uint64_t kWindows = 64;
constexpr int kSlots = 256;  // more than the caches hold, like a pool

struct Kernel {
  const char* name;
  ResizeKernel ours;
  int open_cv;
};
constexpr Kernel kKernels[] = {
    {"bicubic", ResizeKernel::kBicubic, cv::INTER_CUBIC},
    {"bilinear", ResizeKernel::kBilinear, cv::INTER_LINEAR},
    {"antialias", ResizeKernel::kAntialias, cv::INTER_AREA},
    {"antialias_bicubic", ResizeKernel::kAntialiasBicubic, cv::INTER_AREA}};

// The windows: of one size, or random crops if the size is 0.
struct Crops {
  std::string name;
  int width = 0;
  int height = 0;

  [[nodiscard]] RgbImage Image() const {
    return width > 0 ? TestPhotograph(width, height, 1)
                     : TestPhotograph(500, 375, 1);
  }
  [[nodiscard]] std::vector<Window> Windows() const {
    if (width > 0) {
      return {{.y = 0, .x = 0, .height = height, .width = width}};
    }
    std::vector<Window> windows;
    for (std::uint64_t position = 0; position < kWindows; ++position) {
      SampleRandom random({.position = position}, RandomStream::kCrop);
      windows.push_back(RandomCropWindow(375, 500, random));
    }
    return windows;
  }
};

// Manual time: only the sink, without the decoder's writing of the rows.
void Sink(benchmark::State& state, ResizeKernel kernel,
          const std::string& target, const Crops& crops) {
  UseSimdTarget(target);
  const RgbImage image = crops.Image();
  const std::vector<Window> windows = crops.Windows();
  Batch batch({.size = kSlots, .image_size = kSize});
  std::ranges::fill(batch.pixels(), 1);  // its pages are there from now on
  const std::unique_ptr<ResizeSink> sink = MakeResizeSink(kernel, kSize);
  std::size_t next = 0;
  for (auto _ : state) {
    sink->Aim(batch.slot_pixels(static_cast<int>(next % kSlots)),
              next % 2 == 1);
    PutImage(image.view(windows[next++ % windows.size()]), *sink, kBand);
    state.SetIterationTime(ToSeconds(sink->busy()));
  }
  state.SetItemsProcessed(state.iterations());
  UseSimdTarget("");
}

void OpenCv(benchmark::State& state, int kernel, const Crops& crops) {
  cv::setNumThreads(1);
  const RgbImage image = crops.Image();
  const std::vector<Window> windows = crops.Windows();
  Batch batch({.size = kSlots, .image_size = kSize});
  std::ranges::fill(batch.pixels(), 1);  // its pages are there from now on
  cv::Mat resized(kSize, kSize, CV_8UC3);
  std::size_t next = 0;
  for (auto _ : state) {
    const RgbView source = image.view(windows[next % windows.size()]);
    const auto start = std::chrono::steady_clock::now();
    // OpenCV only reads this memory.
    const cv::Mat from(source.height, source.width, CV_8UC3,
                       const_cast<std::uint8_t*>(source.pixels),
                       static_cast<std::size_t>(source.stride));
    cv::resize(from, resized, resized.size(), 0, 0, kernel);
    PackImage({resized.data, kSize, kSize, std::ptrdiff_t{3} * kSize},
              next % 2 == 1,
              batch.slot_pixels(static_cast<int>(next % kSlots)));
    ++next;
    state.SetIterationTime(SecondsSince(start));
  }
  state.SetItemsProcessed(state.iterations());
}

template <typename... Args>
void Add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("least", [](const std::vector<double>& times) {
        return *std::ranges::min_element(times);
      });
}

void Register() {
  std::vector<Crops> all = {{.name = "random_crops"},
                            {.name = "median", .width = 330, .height = 300}};
  for (const int side : {112, 290, 896, 1800}) {
    all.push_back({"square:" + std::to_string(side), side, side});
  }
  for (const Crops& crops : all) {
    for (const Kernel& kernel : kKernels) {
      const std::string what =
          std::string(kernel.name).append("/").append(crops.name);
      for (const std::string& target : SupportedSimdTargets()) {
        Add("Sink/" + what + "/" + target, Sink, kernel.ours, target, crops);
      }
      Add("OpenCV/" + what, OpenCv, kernel.open_cv, crops);
    }
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
