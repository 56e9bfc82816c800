#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/cuda/CUDAGraph.h>

#include "trainer/cuda/stream.h"

namespace infeed {

// What a graph is captured for: to be launched, or to be a part of another one.
enum class GraphUse { kToLaunch, kAsPart };

// Captures the work in the stream that is current, with memory of the pool.
// generators: what it draws from.
[[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> CaptureWork(
    const std::function<void()>& work, std::vector<at::Generator> generators,
    at::cuda::MempoolId_t pool, GraphUse use);

// Memory for graphs. Waits for the device, and gives back what passes so far
// took: the graphs' own would come on top of it.
[[nodiscard]] at::cuda::MempoolId_t NewGraphPool(CudaWaits& waits);

struct CudaGraphOptions {
  bool enabled = true;  // else everything is run as it comes
  int slots = 3;
  int warm_up = 3;  // passes that are run before one is captured
};

// The same work on each slot of a ring, again and again: run by the host at
// first, in which libraries choose and allocate what they need, then captured
// once for each slot, and replayed from then on: one launch for the whole pass.
//
// The work runs in the stream that is current, never the default one, always
// the same. It reads the slot and what lies at fixed addresses, leaves its
// results at such, and neither waits for the device nor reads anything back.
// The graphs share the memory of what lives only inside a pass, since one
// pass follows the other. One thread at a time.
class CudaGraphs {
 public:
  using Work = std::function<void(int slot)>;

  // generators: what the work draws from, asked for before each capture. waits
  // must outlive it.
  CudaGraphs(const CudaGraphOptions& options, Work work,
             std::function<std::vector<at::Generator>()> generators,
             CudaWaits& waits);

  // Does the work on the slot, one way or the other. The first capture waits
  // for the device.
  void Run(int slot);

  // The first runs that are slower than the rest.
  [[nodiscard]] int warm_up_runs() const {
    return options_.warm_up + (options_.enabled ? options_.slots : 0);
  }

  // Forgets what was captured: shapes or addresses are going to change.
  // Requires: no pass is under way.
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
