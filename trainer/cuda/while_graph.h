#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include <torch/types.h>

#include "trainer/feed/step_record.h"

namespace infeed {

// Many steps as one launch: a graph whose only node is a loop on the device.
//
//   [ continue? ] ► WHILE [ step (a captured graph) ► continue? ]
//
// The step advances the clock. The loop continues while the clock is below its
// end and *stop is 0. One thread at a time. Throws c10::Error and IoError if
// the GPU rejects the graph: it needs CUDA 12.4 or later, and a step with only
// kernels, copies and memory sets.
class CudaWhileGraph {
 public:
  // Copies the step; the memory that it uses must outlive this object, and so
  // must the clock and `stop`, which the device reads.
  CudaWhileGraph(cudaGraph_t step, const StepClock* clock,
                 const std::int32_t* stop, const torch::Device& device);

  // Launches the loop in the stream: it runs until the clock is at `end`, or
  // *stop is set.
  void Launch(std::int64_t end, cudaStream_t stream);

 private:
  struct Destroy {
    void operator()(cudaGraph_t graph) const;
    void operator()(cudaGraphExec_t graph) const;
  };
  void Build(cudaGraph_t step, const StepClock* clock,
             const std::int32_t* stop);

  torch::Tensor end_;  // int64 [1]
  std::unique_ptr<CUgraph_st, Destroy> graph_;
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

}  // namespace infeed
