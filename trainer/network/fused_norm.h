#pragma once

#include <torch/types.h>

// Batch norm in training with what follows it in a residual network, as one
// operation: a GPU then goes over the memory about half as often as with one
// after the other. Statistics are in float32 at least; the result has the
// input's type and is rounded once.
namespace infeed {

// A batch norm's own tensors, [C], shared with its module.
struct NormTensors {
  torch::Tensor weight;
  torch::Tensor bias;
  torch::Tensor moving_mean;
  torch::Tensor moving_variance;
  double momentum = 0.1;  // of this batch in the moving ones
  double epsilon = 1e-5;
};

// relu(norm(x) + residual) by the batch's statistics, which move the moving
// ones; without a sum where residual is undefined, without ReLU where relu is
// false. x and residual are [N, C, H, W]; the result is new memory in
// channels_last order. On a GPU by our kernels where C is a multiple of 8 and x
// float32 or bfloat16, else by LibTorch's; one formula.
[[nodiscard]] torch::Tensor FusedNorm(const torch::Tensor& x,
                                      const NormTensors& norm,
                                      const torch::Tensor& residual, bool relu);

// What FusedNorm() makes of its inputs, without gradients.
struct NormOutputs {
  torch::Tensor y;
  torch::Tensor mean;         // [C], for the gradients
  torch::Tensor inverse_std;  // [C], likewise
};

struct NormGradients {
  torch::Tensor x;
  torch::Tensor weight;
  torch::Tensor bias;
  torch::Tensor residual;  // that of norm(x) + residual
};

}  // namespace infeed
