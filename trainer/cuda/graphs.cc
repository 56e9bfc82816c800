#include "trainer/cuda/graphs.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <ATen/autocast_mode.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "trainer/cuda/log.h"

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

// Calls a function during clean-up, where its error can only be dropped.
void Attempt(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error&) {
  }
}

// Ends a capture that failed, so that allocations no longer go to its pool.
void EndFailed(std::unique_ptr<at::cuda::CUDAGraph> graph,
               at::cuda::MempoolId_t pool) {
  Attempt([&] { graph->capture_end(); });
  graph.reset();
  const auto device = c10::cuda::getCurrentCUDAStream().device_index();
  Attempt([&] {
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool);
  });
  Attempt([] { c10::cuda::CUDACachingAllocator::emptyCache(); });
  static_cast<void>(cudaGetLastError());
}

// Earlier versions of LibTorch leave the generator in its state of a capture.
void Restart(at::Generator& generator) {
  at::Generator fresh =
      at::cuda::detail::createCUDAGenerator(generator.device().index());
  fresh.set_current_seed(generator.current_seed());
  generator.graphsafe_set_state(fresh);
}

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
  try {
    WithCudaLog([&] {
      // Thread-local: other threads continue to allocate, copy and pin memory.
      graph->capture_begin(pool, cudaStreamCaptureModeThreadLocal);
      work();
      graph->capture_end();
    });
  } catch (...) {
    EndFailed(std::move(graph), pool);
    std::ranges::for_each(generators, Restart);
    throw;
  }
  return graph;
}

at::cuda::MempoolId_t NewGraphPool(CudaWaits& waits) {
  waits.For(c10::cuda::getCurrentCUDAStream());
  c10::cuda::CUDACachingAllocator::emptyCache();
  return at::cuda::graph_pool_handle();
}

CudaGraphs::CudaGraphs(int slots, Work work, CudaWaits& waits)
    : work_(std::move(work)),
      graphs_(static_cast<std::size_t>(slots)),
      waits_(waits) {}

void CudaGraphs::Capture(int slot) {
  try {
    graphs_[static_cast<std::size_t>(slot)] =
        CaptureWork([&] { work_.run(slot); }, work_.generators(), SharedPool(),
                    GraphUse::kToLaunch);
  } catch (...) {
    if (work_.undo) {
      work_.undo();
    }
    throw;
  }
}

void CudaGraphs::Replay(int slot) {
  graphs_[static_cast<std::size_t>(slot)]->replay();
}

at::cuda::MempoolId_t CudaGraphs::SharedPool() {
  for (const auto& graph : graphs_) {
    if (graph != nullptr) {
      return graph->pool();
    }
  }
  return NewGraphPool(waits_);
}

void CudaGraphs::Drop() {
  for (auto& graph : graphs_) {
    graph.reset();
  }
}

}  // namespace infeed
