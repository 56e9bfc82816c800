#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/cuda/CUDAGraph.h>

#include "trainer/cuda/stream.h"

namespace infeed {

// The purpose of a captured graph: to be launched, or to be part of another
// one.
enum class GraphUse { kToLaunch, kAsPart };

// Captures the work in the current stream, with memory of the pool. generators:
// those of the work's random draws.
[[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> CaptureWork(
    const std::function<void()>& work, std::vector<at::Generator> generators,
    at::cuda::MempoolId_t pool, GraphUse use);

// A new memory pool for graphs. Waits for the device and frees the cached
// memory of earlier passes, to which the graphs' memory would be added.
[[nodiscard]] at::cuda::MempoolId_t NewGraphPool(CudaWaits& waits);

struct CudaGraphOptions {
  bool enabled = true;  // else the work runs without graphs
  int slots = 3;
  int warm_up = 3;  // passes that run before one is captured
};

// Runs the same work on the slots of a ring, repeatedly. The first passes are
// launched kernel by kernel, while libraries select kernels and allocate
// memory; then the work is captured once for each slot, and replayed from then
// on: one launch for a whole pass.
//
// The work runs in the current stream, which must always be the same and not
// the default one. It reads the slot and data at fixed addresses, writes its
// results to fixed addresses, and neither waits for the device nor copies to
// the host. The graphs share the memory that is used only inside a pass, since
// passes run one after the other. One thread at a time.
class CudaGraphs {
 public:
  using Work = std::function<void(int slot)>;

  // generators: returns those of the work's random draws, called before each
  // capture. waits must outlive it.
  CudaGraphs(const CudaGraphOptions& options, Work work,
             std::function<std::vector<at::Generator>()> generators,
             CudaWaits& waits);

  // Runs the work on the slot, directly or as a graph. The first capture waits
  // for the device.
  void Run(int slot);

  // The first runs that are slower than the rest.
  [[nodiscard]] int warm_up_runs() const {
    return options_.warm_up + (options_.enabled ? options_.slots : 0);
  }

  // Drops the captured graphs, before shapes or addresses change. Requires: no
  // pass is running.
  void Reset();

 private:
  void Capture(int slot);
  [[nodiscard]] at::cuda::MempoolId_t SharedPool();

  CudaGraphOptions options_;
  Work work_;
  std::function<std::vector<at::Generator>()> generators_;
  std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs_;  // by slot
  CudaWaits& waits_;
  int runs_ = 0;  // before the first capture
};

}  // namespace infeed
