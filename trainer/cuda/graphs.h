#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/cuda/CUDAGraph.h>

#include "trainer/cuda/stream.h"
#include "trainer/feed/slot_graphs.h"

namespace infeed {

// The purpose of a captured graph: to be launched, or to be part of another
// one.
enum class GraphUse { kToLaunch, kAsPart };

// Captures the work in the current stream, with memory of the pool. generators:
// the generators of the work's random draws. Throws IoError if CUDA rejects it,
// with the text of CUDA's own log; stream, memory and generators can then be
// used again.
[[nodiscard]] std::unique_ptr<at::cuda::CUDAGraph> CaptureWork(
    const std::function<void()>& work, std::vector<at::Generator> generators,
    at::cuda::MempoolId_t pool, GraphUse use);

// A new memory pool for graphs. Waits for the device and frees the cached
// memory of earlier passes, to which the graphs' memory would be added.
[[nodiscard]] at::cuda::MempoolId_t NewGraphPool(CudaWaits& waits);

// Passes of work as CUDA graphs: one launch for a whole pass.
//
// The work runs in the current stream, which must always be the same and not
// the default one. It reads the slot and data at fixed addresses, writes its
// results to fixed addresses, and neither waits for the device nor copies to
// the host. The graphs share the memory that is used only inside a pass, since
// passes run one after the other. The first capture waits for the device. One
// thread at a time.
class CudaGraphs final : public GraphDevice {
 public:
  // generators: returns the generators of the work's random draws; called
  // before each capture. undo: reverts the state that the work left when a
  // capture failed in the middle; may be empty. waits must outlive it.
  struct Work {
    std::function<void(int slot)> run;
    std::function<std::vector<at::Generator>()> generators;
    std::function<void()> undo;
  };
  CudaGraphs(int slots, Work work, CudaWaits& waits);

  void Run(int slot) override { work_.run(slot); }
  void Capture(int slot) override;
  void Replay(int slot) override;
  void Drop() override;

 private:
  [[nodiscard]] at::cuda::MempoolId_t SharedPool();

  Work work_;
  std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs_;  // by slot
  CudaWaits& waits_;
};

}  // namespace infeed
