#include "trainer/cuda/while_graph.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>

#include "trainer/kernels/resident.h"

namespace infeed {
namespace {

cudaGraph_t NewGraph() {
  cudaGraph_t graph = nullptr;
  C10_CUDA_CHECK(cudaGraphCreate(&graph, 0));
  return graph;
}

// Returns the body, which the graph owns. CUDA 13 also needs the edges' data.
cudaGraph_t AddWhile(cudaGraph_t graph, cudaGraphNode_t after,
                     cudaGraphConditionalHandle handle) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  C10_CUDA_CHECK(cudaGraphAddNode(&node, graph, &after, nullptr, 1, &params));
#else
  C10_CUDA_CHECK(cudaGraphAddNode(&node, graph, &after, 1, &params));
#endif
  return params.conditional.phGraph_out[0];
}

}  // namespace

void CudaWhileGraph::Destroy::operator()(cudaGraph_t graph) const {
  C10_CUDA_CHECK_WARN(cudaGraphDestroy(graph));
}

void CudaWhileGraph::Destroy::operator()(cudaGraphExec_t graph) const {
  C10_CUDA_CHECK_WARN(cudaGraphExecDestroy(graph));
}

CudaWhileGraph::CudaWhileGraph(cudaGraph_t step, const StepClock* clock,
                               const std::int32_t* stop,
                               const torch::Device& device)
    : end_(torch::zeros({1}, torch::device(device).dtype(torch::kLong))),
      graph_(NewGraph()) {
  Build(step, clock, stop);
  cudaGraphExec_t executable = nullptr;
  C10_CUDA_CHECK(cudaGraphInstantiate(&executable, graph_.get(), 0));
  executable_.reset(executable);
}

void CudaWhileGraph::Build(cudaGraph_t step, const StepClock* clock,
                           const std::int32_t* stop) {
  cudaGraphConditionalHandle handle = 0;
  // The condition is 0 until the kernel before the loop has set it.
  C10_CUDA_CHECK(cudaGraphConditionalHandleCreate(&handle, graph_.get(), 0,
                                                  cudaGraphCondAssignDefault));
  const LoopWords loop = {
      .clock = clock, .end = end_.data_ptr<std::int64_t>(), .stop = stop};
  const cudaGraphNode_t first =
      AddKeepGoing(graph_.get(), nullptr, handle, loop);
  const cudaGraph_t body = AddWhile(graph_.get(), first, handle);
  cudaGraphNode_t child = nullptr;
  C10_CUDA_CHECK(cudaGraphAddChildGraphNode(&child, body, nullptr, 0, step));
  AddKeepGoing(body, child, handle, loop);
}

void CudaWhileGraph::Launch(std::int64_t end, cudaStream_t stream) {
  LaunchSetEnd(end_.data_ptr<std::int64_t>(), end, stream);
  C10_CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
}

}  // namespace infeed
