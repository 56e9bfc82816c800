#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "trainer/loop/device.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/network/network.h"
#include "trainer/network/tensors.h"
#include "trainer/optimizer/optimizer.h"

// One update of ResNet-50's 25.6 million parameters on the CPU: by one pass
// over the memory, and by LibTorch's kernels. In turns:
//   optimizer_bench --benchmark_enable_random_interleaving=true
//     --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
namespace infeed {
namespace {

void Update(benchmark::State& state, OptimizerKind kind, Kernels kernels) {
  SetThreads(0);
  const std::shared_ptr<Network> network = MakeNetwork(ModelOptions{});
  const OptimizerOptions options = {.kind = kind};
  const std::vector<OptimizedParameter> parameters =
      ParametersOf(*network, options);
  std::vector<torch::Tensor> gradients;
  for (const OptimizedParameter& parameter : parameters) {
    gradients.push_back(at::full_like(parameter.weight.detach(), 1e-3));
  }
  const auto optimizer = MakeOptimizer(options, parameters, kernels);
  const torch::Tensor rate = at::full({1}, 1e-3F);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      torch::Tensor weight = parameters[i].weight;
      weight.mutable_grad() = gradients[i];  // Step() drops it.
    }
    optimizer->Step(rate);
  }
}

void RegisterAll() {
  for (const auto& [name, kind] : kOptimizers) {
    for (const Kernels kernels : {Kernels::kFastest, Kernels::kLibrary}) {
      const bool fastest = kernels == Kernels::kFastest;
      benchmark::RegisterBenchmark(
          (std::string(name) + (fastest ? "/one pass" : "/LibTorch")).c_str(),
          Update, kind, kernels)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  infeed::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
