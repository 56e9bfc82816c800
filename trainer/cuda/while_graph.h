#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include <torch/types.h>

#include "trainer/feed/step_record.h"

namespace infeed {

// Many steps as one launch: a graph whose only node is a loop on the device.
//
//   WHILE  [ step (a captured graph) ] ► [ clock->index < end? ]
//
// The step advances the clock. One thread at a time. Throws c10::Error and
// IoError for what the GPU refuses: it takes CUDA 12.4 or later, and a step of
// kernels, copies and memory sets alone.
class CudaWhileGraph {
 public:
  // Copies the step; what it works on must outlive this, the clock too.
  CudaWhileGraph(cudaGraph_t step, const StepClock* clock,
                 const torch::Device& device);

  // In the stream: goes on until the clock is at `end`, at least for one step.
  void Launch(std::int64_t end, cudaStream_t stream);

 private:
  struct Destroy {
    void operator()(cudaGraph_t graph) const;
    void operator()(cudaGraphExec_t graph) const;
  };
  void Build(cudaGraph_t step, const StepClock* clock);

  torch::Tensor end_;  // int64 [1]
  std::unique_ptr<CUgraph_st, Destroy> graph_;
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

}  // namespace infeed
