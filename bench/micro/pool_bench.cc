#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "trainer/loop/device.h"
#include "trainer/network/pool.h"

// ReLU and average pool of LeNet's two layers, batches of 128, forward and
// backward on the CPU: in one pass each, and by LibTorch's operations. In
// turns: optimizer_bench.cc has the flags.
namespace infeed {
namespace {

torch::Tensor OnePass(const torch::Tensor& x) { return PooledRelu(x); }

torch::Tensor Library(const torch::Tensor& x) {
  return at::avg_pool2d(x.relu(), 2);
}

void Pool(benchmark::State& state, torch::Tensor (*pool)(const torch::Tensor&),
          int channels, int side) {
  SetThreads(0);
  torch::Tensor x = torch::randn({128, channels, side, side}).requires_grad_();
  const torch::Tensor gradient =
      torch::randn({128, channels, side / 2, side / 2});
  for ([[maybe_unused]] auto _ : state) {
    x.mutable_grad() = torch::Tensor();
    pool(x).backward(gradient);
  }
}

BENCHMARK_CAPTURE(Pool, LeNet6x28_one_pass, OnePass, 6, 28)->UseRealTime();
BENCHMARK_CAPTURE(Pool, LeNet6x28_LibTorch, Library, 6, 28)->UseRealTime();
BENCHMARK_CAPTURE(Pool, LeNet16x10_one_pass, OnePass, 16, 10)->UseRealTime();
BENCHMARK_CAPTURE(Pool, LeNet16x10_LibTorch, Library, 16, 10)->UseRealTime();

}  // namespace
}  // namespace infeed
