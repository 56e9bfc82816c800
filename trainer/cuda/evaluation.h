#pragma once

#include <memory>
#include <vector>

#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/graphs.h"
#include "trainer/cuda/idle.h"
#include "trainer/cuda/slots.h"
#include "trainer/cuda/stream.h"
#include "trainer/feed/upload_ring.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/passes.h"

namespace infeed {

// Evaluation on a GPU: forward pass and sums as a graph of their own, captured
// once and kept from one evaluation to the next. Nothing is read back before
// the end. One thread at a time, the same always.
class CudaEvaluation {
 public:
  // All must outlive it.
  CudaEvaluation(const DeviceModel& model, const c10::cuda::CUDAStream& stream,
                 CudaWaits& waits);

  // DevicePasses::Evaluate().
  [[nodiscard]] EvalSums Run(Infeed& infeed);

 private:
  struct Output {
    torch::Tensor logits;
    DeviceBatch batch;
  };
  void UseShape(const BatchShape& shape);
  void Pass(int slot);

  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits& waits_;
  CudaIdle idle_;
  EvalCounter counter_;
  CudaGraphs graphs_;
  std::vector<Output> outputs_;       // by slot; a graph writes there again
  std::unique_ptr<CudaSlots> slots_;  // of the shape at hand
  std::unique_ptr<UploadRing> uploads_;
};

}  // namespace infeed
