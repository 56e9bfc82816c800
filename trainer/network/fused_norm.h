#pragma once

#include <optional>
#include <utility>

#include <torch/types.h>

// Batch norm in training fused with the residual sum and the ReLU after it: a
// GPU then reads and writes about half as much memory as with separate
// operations. Statistics are at least float32; the result has the input's type
// and is rounded once.
namespace infeed {

// Images for a norm, with what the convolution that made them has summed.
struct SummedImages {
  SummedImages() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): images of any other origin
  SummedImages(torch::Tensor without_sums) : x(std::move(without_sums)) {}
  SummedImages(torch::Tensor images, torch::Tensor its_sums)
      : x(std::move(images)), sums(std::move(its_sums)) {}

  torch::Tensor x;  // [N, C, H, W]
  // [2, C], float32, without gradients: of each channel, and of its square.
  // Undefined: none.
  torch::Tensor sums;
};

// A batch norm's own tensors, [C], shared with its module.
struct NormTensors {
  torch::Tensor weight;
  torch::Tensor bias;
  torch::Tensor moving_mean;
  torch::Tensor moving_variance;
  double momentum = 0.1;  // weight of this batch in the moving ones
  double epsilon = 1e-5;
  // SummedImages::sums of what it normalises, from which our kernels then find
  // the statistics; LibTorch's find them in the images.
  torch::Tensor sums = {};
};

// The tensor that is added to norm(x).
struct NormResidual {
  torch::Tensor x = {};  // undefined: nothing
  std::optional<NormTensors> norm =
      {};  // its own norm; nullopt: added as it is
};

// relu(norm(x) + residual) with the batch's statistics, which update the moving
// ones; the residual is norm'(residual.x) if it has a norm. No ReLU where relu
// is false. x and residual are [N, C, H, W]; the result is new memory in
// channels_last order. Uses our kernels on a GPU where C is a multiple of 8 and
// x is float32, bfloat16 or float16, else LibTorch's; both have the same
// formula.
[[nodiscard]] torch::Tensor FusedNorm(const torch::Tensor& x,
                                      const NormTensors& norm,
                                      const NormResidual& residual, bool relu);

// MaxPooled(FusedNorm(x, norm, {}, true), {.same = same}) (pool.h), with the
// same bits. Where both have kernels, y before the pool is not stored: they
// read x once for the statistics and once for the result, and write that and a
// byte for each value; so the backward pass.
[[nodiscard]] torch::Tensor FusedNormPool(const torch::Tensor& x,
                                          const NormTensors& norm, bool same);

// FusedNorm() with ReLU, for two users: two tensors that share their memory,
// whose gradients are added up in the norm's backward pass. Neither may be
// changed in place. Requires: residual.x is defined.
[[nodiscard]] std::pair<torch::Tensor, torch::Tensor> ForkedNorm(
    const torch::Tensor& x, const NormTensors& norm,
    const NormResidual& residual);

// The batch's statistics of a norm, for the gradients.
struct NormStatistics {
  torch::Tensor mean;         // [C]
  torch::Tensor inverse_std;  // [C]
};

// The result of FusedNorm(), without gradients.
struct NormOutputs {
  torch::Tensor y;
  NormStatistics of_x;
  NormStatistics of_residual = {};  // if that has a norm
};

// The inputs of a norm's backward pass.
struct NormBackwardInputs {
  torch::Tensor x;
  torch::Tensor y;  // with ReLU and a residual; without, it is computed from x
  torch::Tensor weight;
  torch::Tensor bias;
  NormStatistics statistics;  // of x
  torch::Tensor gradient;     // of y
  // A second gradient of y; undefined: none. Only with ReLU and a residual.
  torch::Tensor more_gradient = {};
  bool relu = false;
  bool has_residual = false;
};

struct NormGradients {
  torch::Tensor x;
  torch::Tensor weight;
  torch::Tensor bias;
  torch::Tensor residual;  // the gradient of norm(x) + residual
};

// Whether the kernels support x: on a GPU, float32, bfloat16 or float16,
// channels a multiple of 8.
[[nodiscard]] bool CudaNormTakes(const torch::Tensor& x);

// x and residual.x (which may be undefined): [N, C, H, W] of one type, in
// channels_last order. Requires: CudaNormTakes(x).
[[nodiscard]] NormOutputs CudaNormForward(const torch::Tensor& x,
                                          const NormTensors& norm,
                                          const NormResidual& residual,
                                          bool relu);

// All images have the layout of x. The residual's gradient is computed only
// with has_residual.
[[nodiscard]] NormGradients CudaNormBackward(const NormBackwardInputs& inputs);

// A norm for a convolution that normalizes x itself (normed_convolution.h).
struct FoldedNorm {
  NormStatistics statistics;     // of x
  torch::Tensor scale_and_bias;  // [2, C], of the type of x
};

// Updates the moving statistics. Requires: CudaNormTakes(x); x is float16.
[[nodiscard]] FoldedNorm CudaFoldNorm(const torch::Tensor& x,
                                      const NormTensors& norm);

// The gradient of x. of_norm: that of norm(x), and of its weight and bias.
[[nodiscard]] torch::Tensor CudaNormInputGradient(
    const torch::Tensor& x, const torch::Tensor& weight,
    const NormStatistics& statistics, const NormGradients& of_norm);

// FusedNormPool() by the kernels. Requires: CudaNormTakes(x) and
// CudaMaxPoolTakes(x).
[[nodiscard]] torch::Tensor CudaFusedNormPool(const torch::Tensor& x,
                                              const NormTensors& norm,
                                              bool same);

}  // namespace infeed
