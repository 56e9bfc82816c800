#pragma once

#include <cstdint>

#include "trainer/model_options.h"
#include "trainer/optimizer_options.h"

// What a network costs, from its plan alone: for estimates before a run.
namespace infeed {

struct ModelCost {
  std::int64_t parameters = 0;  // numbers that are trained
  std::int64_t buffers = 0;     // numbers that are kept beside them
  // Numbers that one image leaves for the backward pass: what each convolution
  // gives, and what its norm and ReLU make of it.
  std::int64_t activations = 0;
};

// Throws as LayersOf() and PlanOf() do. Requires: image_size > 0.
[[nodiscard]] ModelCost CostOf(const ModelOptions& model, int image_size);

// Bytes of a training step: weights, gradients and the optimizer's state in
// float32, and the activations of one part of the batch. An estimate, without
// LibTorch itself and its workspaces.
[[nodiscard]] std::int64_t TrainingBytes(const ModelCost& cost,
                                         const OptimizerOptions& optimizer,
                                         int batch_size, bool in_bfloat16);

// Bytes of a checkpoint.
[[nodiscard]] std::int64_t CheckpointBytes(const ModelCost& cost,
                                           const OptimizerOptions& optimizer);

}  // namespace infeed
