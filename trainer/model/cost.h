#pragma once

#include <cstdint>

#include "trainer/model/optimizer_options.h"
#include "trainer/model/options.h"

// What a network costs, from its plan alone: for estimates before a run.
namespace infeed {

struct ModelCost {
  std::int64_t parameters = 0;  // numbers that are trained
  std::int64_t buffers = 0;     // numbers that are kept beside them
  // Numbers that one image leaves for the backward pass: what each convolution
  // gives, and what its norm and ReLU make of it.
  std::int64_t activations = 0;
  // The most numbers of one image that are in use at once on the way forward
  // alone: around one convolution.
  std::int64_t widest = 0;
  // Each with its addition, of one image on the way forward.
  std::int64_t multiplications = 0;
};

// Throws as LayersOf() and PlanOf() do. Requires: image_size > 0.
[[nodiscard]] ModelCost CostOf(const ModelOptions& model, int image_size);

// Bytes of a training step: weights, gradients and the optimizer's state in
// float32, and the activations of one part of the batch. An estimate, without
// LibTorch itself and its workspaces.
[[nodiscard]] std::int64_t TrainingBytes(const ModelCost& cost,
                                         const OptimizerOptions& optimizer,
                                         int batch_size, bool in_bfloat16);

// The same of a batch that goes through the model without a way back.
[[nodiscard]] std::int64_t ForwardBytes(const ModelCost& cost, int batch_size,
                                        bool in_bfloat16);

// Floating-point operations of a training step: a multiplication and its
// addition are two, and the way back is twice the way forward.
[[nodiscard]] double StepOperations(const ModelCost& cost, int batch_size);

// Bytes that a step moves to and from memory at the least, were everything
// around the convolutions fused into them: what an image leaves is written and
// read once on the way forward, read once on the way back, and its gradient
// written and read; weights are read on both ways, and updated.
[[nodiscard]] double StepBytes(const ModelCost& cost,
                               const OptimizerOptions& optimizer,
                               int batch_size, bool in_bfloat16);

// Bytes of a checkpoint.
[[nodiscard]] std::int64_t CheckpointBytes(const ModelCost& cost,
                                           const OptimizerOptions& optimizer);

}  // namespace infeed
