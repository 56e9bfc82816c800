#include <algorithm>

#include "pipeline/memory/image_choice.h"
#include "trainer/kernels/resident.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

// Blocks for each image: each thread copies several pixels.
constexpr int kMostBlocks = 64;

__device__ void SetLabel(const HeldImages& images, std::uint32_t choice,
                         int slot, const BatchSlots& to) {
  const bool is_image = choice != kNoImage;
  to.labels[slot] = is_image ? images.labels[ChosenImage(choice)] : -1;
  to.weights[slot] = is_image ? 1.0F : 0.0F;
}

// blockIdx.x is the slot.
__global__ void __launch_bounds__(kThreads)
    GatherKernel(HeldImages images, const std::uint32_t* choices,
                 const StepClock* clock, BatchSlots to) {
  const int slot = static_cast<int>(blockIdx.x);
  const std::uint32_t choice = choices[clock->index * to.slots + slot];
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    SetLabel(images, choice, slot, to);
  }
  const int pixels = images.height * images.width;
  std::uint32_t* const out = to.pixels + std::int64_t{slot} * pixels;
  const int stride = static_cast<int>(gridDim.y) * kThreads;
  for (int i = static_cast<int>(blockIdx.y * kThreads + threadIdx.x);
       i < pixels; i += stride) {
    out[i] =
        choice == kNoImage
            ? 0U
            : images
                  .pixels[ChosenPixel(choice, i, images.height, images.width)];
  }
}

__global__ void SetEndKernel(std::int64_t* end, std::int64_t value) {
  *end = value;
}

// volatile: the host writes while the loop runs.
__global__ void KeepGoingKernel(cudaGraphConditionalHandle handle,
                                const StepClock* clock, const std::int64_t* end,
                                const volatile std::int32_t* stop) {
  cudaGraphSetConditional(handle, clock->index < *end && *stop == 0 ? 1U : 0U);
}

}  // namespace

void LaunchGather(const HeldImages& images, const std::uint32_t* choices,
                  const StepClock* clock, const BatchSlots& to,
                  cudaStream_t stream) {
  const int pixels = images.height * images.width;
  const dim3 blocks(static_cast<unsigned>(to.slots),
                    static_cast<unsigned>(std::min(
                        kMostBlocks, (pixels + kThreads - 1) / kThreads)));
  GatherKernel<<<blocks, kThreads, 0, stream>>>(images, choices, clock, to);
  CheckLaunch("GatherKernel");
}

void LaunchSetEnd(std::int64_t* end, std::int64_t value, cudaStream_t stream) {
  SetEndKernel<<<1, 1, 0, stream>>>(end, value);
  CheckLaunch("SetEndKernel");
}

cudaGraphNode_t AddKeepGoing(cudaGraph_t graph, cudaGraphNode_t after,
                             cudaGraphConditionalHandle handle,
                             const LoopWords& loop) {
  LoopWords words = loop;
  void* arguments[] = {&handle, &words.clock, &words.end, &words.stop};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(KeepGoingKernel);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  const cudaError_t error =
      cudaGraphAddKernelNode(&node, graph, after != nullptr ? &after : nullptr,
                             after != nullptr ? 1 : 0, &kernel);
  if (error != cudaSuccess) {
    throw IoError(std::string("the GPU refused a kernel of the loop: ") +
                  cudaGetErrorString(error));
  }
  return node;
}

}  // namespace infeed
