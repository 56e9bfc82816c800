#include "trainer/cuda/graphs.h"

#include <utility>

#include <ATen/autocast_mode.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

namespace infeed {
namespace {

// In LibTorch 2.8, a graph's generators must be registered; later versions do
// it themselves.
template <typename Generator>
void Register(Generator& generator, at::cuda::CUDAGraph& graph) {
  if constexpr (requires { generator.register_graph(&graph); }) {
    generator.register_graph(&graph);
  }
}

// Autocast's cached tensors belong to the pass that made them: a captured pass
// must not use those of another.
class NoAutocastCache {
 public:
  NoAutocastCache() : before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::clear_cache();
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~NoAutocastCache() { at::autocast::set_autocast_cache_enabled(before_); }
  NoAutocastCache(const NoAutocastCache&) = delete;
  NoAutocastCache& operator=(const NoAutocastCache&) = delete;

 private:
  bool before_;
};

}  // namespace

std::unique_ptr<at::cuda::CUDAGraph> CaptureWork(
    const std::function<void()>& work, std::vector<at::Generator> generators,
    at::cuda::MempoolId_t pool, GraphUse use) {
  auto graph = std::make_unique<at::cuda::CUDAGraph>(
      /*keep_graph=*/use == GraphUse::kAsPart);
  for (at::Generator& generator : generators) {
    Register(*at::check_generator<at::CUDAGeneratorImpl>(generator), *graph);
  }
  const NoAutocastCache no_cache;
  // Thread-local: other threads continue to allocate, copy and pin memory.
  graph->capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  work();
  graph->capture_end();
  return graph;
}

at::cuda::MempoolId_t NewGraphPool(CudaWaits& waits) {
  waits.For(c10::cuda::getCurrentCUDAStream());
  c10::cuda::CUDACachingAllocator::emptyCache();
  return at::cuda::graph_pool_handle();
}

CudaGraphs::CudaGraphs(const CudaGraphOptions& options, Work work,
                       std::function<std::vector<at::Generator>()> generators,
                       CudaWaits& waits)
    : options_(options),
      work_(std::move(work)),
      generators_(std::move(generators)),
      graphs_(static_cast<std::size_t>(options.slots)),
      waits_(waits) {}

void CudaGraphs::Run(int slot) {
  if (!options_.enabled || runs_ < options_.warm_up) {
    ++runs_;
    work_(slot);
    return;
  }
  auto& graph = graphs_[static_cast<std::size_t>(slot)];
  if (graph == nullptr) {
    Capture(slot);
  }
  graph->replay();
}

void CudaGraphs::Capture(int slot) {
  graphs_[static_cast<std::size_t>(slot)] = CaptureWork(
      [&] { work_(slot); }, generators_(), SharedPool(), GraphUse::kToLaunch);
}

at::cuda::MempoolId_t CudaGraphs::SharedPool() {
  for (const auto& graph : graphs_) {
    if (graph != nullptr) {
      return graph->pool();
    }
  }
  return NewGraphPool(waits_);
}

void CudaGraphs::Reset() {
  for (auto& graph : graphs_) {
    graph.reset();
  }
  runs_ = 0;
}

}  // namespace infeed
