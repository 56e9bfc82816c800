#pragma once

#include <cstdint>
#include <memory>

#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/graphs.h"
#include "trainer/cuda/idle.h"
#include "trainer/cuda/memory.h"
#include "trainer/cuda/slots.h"
#include "trainer/cuda/step.h"
#include "trainer/cuda/step_inputs.h"
#include "trainer/cuda/stream.h"
#include "trainer/feed/result_ring.h"
#include "trainer/feed/slot_graphs.h"
#include "trainer/feed/upload_ring.h"
#include "trainer/loop/passes.h"

namespace infeed {

// Slots of a ring on the device: one is copied to, one is computed with, and
// one is ready.
constexpr int kCudaSlots = 3;

// The training loop on a GPU (docs/internals/architecture.md). For each step,
// the host takes a batch, enqueues its copy and launches the step; it waits for
// the device once, at the end of the loop. A step is a CUDA graph, or eager if
// the policy says so: the same kernels on the same memory in the same order.
//
// Always the same thread. Throws c10::Error for errors of the GPU.
class CudaLoop {
 public:
  // All arguments' references must outlive it.
  CudaLoop(const DeviceModel& model, const c10::cuda::CUDAStream& stream,
           CudaWaits& waits, GraphPolicy& policy);

  // DevicePasses::Train().
  std::int64_t Run(std::int64_t first_step, std::int64_t steps, Infeed& infeed,
                   Outfeed& outfeed);

  // The host's waits so far.
  [[nodiscard]] std::int64_t syncs() const { return syncs_; }
  // The steps that run before graphs are captured, and those that capture.
  [[nodiscard]] int warm_up_steps() const { return graphs_.warm_up_runs(); }

 private:
  void Launch(std::int64_t step, BatchHandle batch, Outfeed& outfeed);
  void UseShape(const BatchShape& shape);
  void Step(int slot);

  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits& waits_;
  std::int64_t syncs_ = 0;
  CudaStatus status_;
  CudaIdle idle_;
  CudaStepInputs inputs_;
  MappedRecords records_;
  ResultRing results_;
  CudaGraphs captured_;
  SlotGraphs graphs_;
  std::unique_ptr<CudaSlots> slots_;  // of the current shape
  std::unique_ptr<UploadRing> uploads_;
};

}  // namespace infeed
