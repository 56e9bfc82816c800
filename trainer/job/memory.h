#pragma once

#include <cstdint>

#include "trainer/groups/torch_errors.h"
#include "trainer/job/run_options.h"
#include "trainer/model/memory_need.h"

// Of a run: what its memory is estimated to be, and what happens when that runs
// out.
namespace infeed {

// input: bytes that the training's or evaluation's input may take, where that
// is known. Requires: the parameters are resolved.
[[nodiscard]] MemoryNeed TrainingNeed(const RunOptions& options,
                                      const TrainParams& params,
                                      std::int64_t input = 0);
// Of an evaluation, or a prediction.
[[nodiscard]] MemoryNeed EvaluationNeed(const RunOptions& options,
                                        const TrainParams& params,
                                        std::int64_t input = 0);
// Of the options' mode.
[[nodiscard]] MemoryNeed NeedOf(const RunOptions& options,
                                const TrainParams& params,
                                std::int64_t input = 0);

// What this machine has at this moment; zeros where it does not say.
[[nodiscard]] MemoryThere FindMemory();

// The same with what the GPU has free, where the need is on one. Requires: the
// run's device has been made, which selects the GPU.
[[nodiscard]] MemoryThere WithGpu(MemoryThere there, const MemoryNeed& need);

// Prints a warning where the need is more than there is.
void WarnOfMemory(const MemoryNeed& need, const MemoryThere& there);

// For AtTorchsDoor(), around work with this need.
[[nodiscard]] OutOfMemoryText RanOutWith(MemoryNeed need, MemoryThere there);

}  // namespace infeed
