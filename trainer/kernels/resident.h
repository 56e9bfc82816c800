#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/feed/step_record.h"

// Kernels of a loop that runs without the host. See kernels.h for the rules
// that hold for all kernels.
namespace infeed {

// All images of a training, on the device.
struct HeldImages {
  const std::uint32_t* pixels = nullptr;  // [images, height, width], packed
  const std::int32_t* labels = nullptr;   // [images]
  int height = 0;
  int width = 0;
};

// A batch on the device, in the same layout as in the host's memory.
struct BatchSlots {
  std::uint32_t* pixels = nullptr;  // [slots, height, width], packed
  std::int32_t* labels = nullptr;   // [slots]
  float* weights = nullptr;         // [slots]
  int slots = 0;
};

// Fills the batch with the images in row clock->index of choices, [steps,
// slots] (pipeline/memory/image_choice.h). Requires: slots, height,
// width > 0.
void LaunchGather(const HeldImages& images, const std::uint32_t* choices,
                  const StepClock* clock, const BatchSlots& to,
                  cudaStream_t stream);

// Sets *end, the clock->index at which the loop ends.
void LaunchSetEnd(std::int64_t* end, std::int64_t value, cudaStream_t stream);

// When a loop ends: when clock->index is at *end, or *stop is not 0. The host
// writes `stop`, in its mapped memory, at any time.
struct LoopWords {
  const StepClock* clock = nullptr;
  const std::int64_t* end = nullptr;
  const std::int32_t* stop = nullptr;
};

// Adds a kernel to a graph, after its node `after` if that is not null: it sets
// the condition of a WHILE node, whether the loop continues. Returns its node.
// Throws IoError.
cudaGraphNode_t AddKeepGoing(cudaGraph_t graph, cudaGraphNode_t after,
                             cudaGraphConditionalHandle handle,
                             const LoopWords& loop);

}  // namespace infeed
