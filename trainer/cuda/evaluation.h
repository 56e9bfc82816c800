#pragma once

#include <memory>
#include <vector>

#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/graphs.h"
#include "trainer/cuda/idle.h"
#include "trainer/cuda/slots.h"
#include "trainer/cuda/stream.h"
#include "trainer/feed/slot_graphs.h"
#include "trainer/feed/upload_ring.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/passes.h"

namespace infeed {

// Evaluation on a GPU: forward pass and sums as a CUDA graph, captured once and
// kept for later evaluations. Nothing is copied to the host before the end.
// Always the same thread.
class CudaEvaluation {
 public:
  // All arguments' references must outlive it.
  CudaEvaluation(const DeviceModel& model, const c10::cuda::CUDAStream& stream,
                 CudaWaits& waits, GraphPolicy& policy);

  // DevicePasses::Evaluate().
  [[nodiscard]] EvalSums Run(Infeed& infeed);

 private:
  struct Output {
    torch::Tensor logits;
    DeviceBatch batch;  // without images
  };
  [[nodiscard]] EvalSums RunPasses(Infeed& infeed);
  void UseShape(const BatchShape& shape);
  void Pass(int slot);

  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits& waits_;
  CudaStatus status_;
  CudaIdle idle_;
  EvalCounter counter_;
  CudaGraphs captured_;
  SlotGraphs graphs_;
  std::vector<Output> outputs_;       // by slot; each replay of a graph writes
                                      // there
  std::unique_ptr<CudaSlots> slots_;  // of the current shape
  std::unique_ptr<UploadRing> uploads_;
};

}  // namespace infeed
