#pragma once

#include <cstdint>

#include "preprocess/pixels/image_size.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/model/options.h"

// Memory and operations of a network, from its plan alone: for estimates before
// a run.
namespace infeed {

struct ModelCost {
  std::int64_t parameters = 0;  // trained numbers
  std::int64_t buffers = 0;     // other numbers of the state, not trained
  // Numbers kept for the backward pass, for each image: the output of each
  // convolution, and that of its norm and ReLU.
  std::int64_t activations = 0;
  // The most numbers in use at once in a forward pass alone, for each image:
  // the input and the output of one convolution.
  std::int64_t widest = 0;
  // Multiply-adds of the forward pass, for each image.
  std::int64_t multiplications = 0;
};

// Throws as PlanLayers() and PlanResNet() do. Requires: image_size > 0.
[[nodiscard]] ModelCost ComputeCost(const ModelOptions& model,
                                    const ImageSize& image_size);

// Bytes of a training step: weights, gradients and the optimizer's state in
// float32, and the activations of one part of the batch (see
// gradient_accumulation_steps). An estimate, without LibTorch itself and its
// workspaces.
[[nodiscard]] std::int64_t TrainingBytes(const ModelCost& cost,
                                         const OptimizerOptions& optimizer,
                                         int batch_size, bool in_16_bits);

// Bytes of a forward pass alone: the state in float32, and the widest
// convolution of a batch.
[[nodiscard]] std::int64_t ForwardBytes(const ModelCost& cost, int batch_size,
                                        bool in_16_bits);

// Operations and bytes of a forward pass alone: activations are written and
// read once, weights read once.
[[nodiscard]] inline double ForwardOperations(const ModelCost& cost,
                                              int batch_size) {
  return 2.0 * static_cast<double>(cost.multiplications) * batch_size;
}
[[nodiscard]] double ForwardTraffic(const ModelCost& cost, int batch_size,
                                    bool in_16_bits);

// Floating-point operations of a training step. A multiply-add counts as two;
// the backward pass has twice the operations of the forward pass.
[[nodiscard]] inline double StepOperations(const ModelCost& cost,
                                           int batch_size) {
  return 3 * ForwardOperations(cost, batch_size);
}

// A lower bound of the bytes that a step moves to and from memory, as if all
// other layers were fused into the convolutions: activations are written and
// read once in the forward pass and read once in the backward pass, and their
// gradients written and read; weights are read in both passes, and updated.
[[nodiscard]] double StepBytes(const ModelCost& cost,
                               const OptimizerOptions& optimizer,
                               int batch_size, bool in_16_bits);

[[nodiscard]] std::int64_t CheckpointBytes(const ModelCost& cost,
                                           const OptimizerOptions& optimizer);

}  // namespace infeed
