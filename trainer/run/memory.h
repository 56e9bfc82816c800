#pragma once

#include <cstdint>

#include "trainer/groups/torch_errors.h"
#include "trainer/model/memory_need.h"
#include "trainer/params/run_options.h"

// Estimates a run's memory, and handles running out of it.
namespace infeed {

// The memory that a training run needs. input: bytes that the input may use, if
// known. Requires: the parameters are resolved.
[[nodiscard]] MemoryNeed TrainingNeed(const RunOptions& options,
                                      const TrainParams& params,
                                      std::int64_t input = 0);
// The memory that an evaluation or a prediction needs.
[[nodiscard]] MemoryNeed EvaluationNeed(const RunOptions& options,
                                        const TrainParams& params,
                                        std::int64_t input = 0);
// The memory that a run in the options' mode needs.
[[nodiscard]] MemoryNeed EstimateNeed(const RunOptions& options,
                                      const TrainParams& params,
                                      std::int64_t input = 0);

// The memory that this machine has now; zeros where it is not known.
[[nodiscard]] MemoryThere FindMemory();

// Adds the GPU's free memory, if need is for a GPU. Requires: the run's device
// has been created, which selects the GPU.
[[nodiscard]] MemoryThere WithGpu(MemoryThere there, const MemoryNeed& need);

// Prints a warning where the run needs more memory than there is.
void WarnOfMemory(const MemoryNeed& need, const MemoryThere& there);

// The argument of TranslateTorchErrors() for work with this need.
[[nodiscard]] OutOfMemoryText MakeOutOfMemoryText(MemoryNeed need,
                                                  MemoryThere there);

}  // namespace infeed
