#include "trainer/loop/ceilings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>

#include <ATen/ATen.h>
#include <torch/cuda.h>

#include "base/seconds.h"
#ifdef INFEED_CUDA
#include "trainer/loop/gpu_cards.h"
#endif
#include "trainer/loop/device.h"

namespace infeed {
namespace {

constexpr int kRepeats = 5;

struct Sizes {
  std::int64_t matrix_side = 0;
  std::int64_t copy_bytes = 0;
};
// Large enough to fill the device, and several times its caches.
constexpr Sizes kOfCpu = {1024, 48 << 20};
constexpr Sizes kOfGpu = {8192, 512 << 20};

// The median of several runs, after a warm-up run.
double SecondsTaken(const torch::Device& device,
                    const std::function<void()>& work) {
  const auto finish = [&] {
    if (device.is_cuda()) {
      torch::cuda::synchronize(device.index());
    }
  };
  work();
  std::array<double, kRepeats> seconds = {};
  for (double& one : seconds) {
    finish();
    const auto start = std::chrono::steady_clock::now();
    work();
    finish();
    one = SecondsSince(start);
  }
  std::ranges::sort(seconds);
  return seconds[kRepeats / 2];
}

double MeasureTflops(const torch::Device& device, std::int64_t side,
                     torch::ScalarType type) {
  // Zeros would multiply faster than a training's numbers; random numbers would
  // change the training's own random draws.
  const at::Tensor a =
      at::arange(side * side, at::device(device).dtype(at::kFloat))
          .sin_()
          .view({side, side})
          .to(type);
  const at::Tensor b = a.t().contiguous();
  at::Tensor product = at::empty_like(a);
  const double seconds =
      SecondsTaken(device, [&] { at::matmul_out(product, a, b); });
  const auto n = static_cast<double>(side);
  return 2 * n * n * n / seconds / 1e12;
}

double MeasureCopy(const torch::Device& device, std::int64_t bytes) {
  const at::Tensor source =
      at::zeros({bytes}, at::device(device).dtype(at::kByte));
  at::Tensor copy = at::ones_like(source);
  const double seconds = SecondsTaken(device, [&] { copy.copy_(source); });
  return 2 * static_cast<double>(bytes) / seconds / 1e9;
}

}  // namespace

DeviceCeilings MeasureCeilings(const std::string& device, Precision precision) {
  const at::NoGradGuard no_grad;
  const torch::Device on = ParseDevice(device);
  const Sizes sizes = on.is_cuda() ? kOfGpu : kOfCpu;
  const DeviceCeilings ceilings = {
      .tflops = MeasureTflops(on, sizes.matrix_side, ScalarTypeOf(precision)),
      .gb_per_second = MeasureCopy(on, sizes.copy_bytes)};
#ifdef INFEED_CUDA
  if (on.is_cuda()) {
    ReleaseCachedMemory();  // The training run needs other sizes.
  }
#endif
  return ceilings;
}

}  // namespace infeed
