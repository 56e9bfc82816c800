#include "trainer/kernels/norm.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/launch/image_tensors.h"
#include "trainer/network/fused_norm.h"

namespace infeed {
namespace {

// nullptr for an undefined tensor.
void* DataOf(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

// The arguments that every norm of x has.
NormForward ForwardOf(const torch::Tensor& x, const NormTensors& norm,
                      const NormStatistics& statistics,
                      const torch::Tensor& workspace) {
  return {.shape = RowsOf(x),
          .type = ImageTypeOf(x),
          .x = x.data_ptr(),
          .weight = norm.weight.data_ptr<float>(),
          .bias = norm.bias.data_ptr<float>(),
          .epsilon = static_cast<float>(norm.epsilon),
          .momentum = static_cast<float>(norm.momentum),
          .moving_mean = norm.moving_mean.data_ptr<float>(),
          .moving_variance = norm.moving_variance.data_ptr<float>(),
          .sums = norm.sums.defined() ? norm.sums.data_ptr<float>() : nullptr,
          .mean = statistics.mean.data_ptr<float>(),
          .inverse_std = statistics.inverse_std.data_ptr<float>(),
          .workspace = workspace.data_ptr<float>()};
}

NormStatistics NewStatistics(const torch::Tensor& x) {
  return {.mean = NewFloats(x, x.size(1)),
          .inverse_std = NewFloats(x, x.size(1))};
}

}  // namespace

bool CudaNormTakes(const torch::Tensor& x) {
  return HasKernels(x) && x.size(1) % kNormChannels == 0;
}

NormOutputs CudaNormForward(const torch::Tensor& x, const NormTensors& norm,
                            const NormResidual& residual, bool relu) {
  const c10::cuda::CUDAGuard guard(x.device());
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
  NormOutputs outputs = {.y = torch::empty_like(x), .of_x = NewStatistics(x)};
  NormForward launch = ForwardOf(x, norm, outputs.of_x, workspace);
  launch.residual = DataOf(residual.x);
  launch.relu = relu;
  launch.y = outputs.y.data_ptr();
  if (residual.norm) {
    outputs.of_residual = NewStatistics(x);
    const NormForward statistics =
        ForwardOf(residual.x, *residual.norm, outputs.of_residual, workspace);
    LaunchNormForward(statistics, stream);
    launch.residual_norm = {.weight = statistics.weight,
                            .bias = statistics.bias,
                            .mean = statistics.mean,
                            .inverse_std = statistics.inverse_std};
  }
  LaunchNormForward(launch, stream);
  return outputs;
}

FoldedNorm CudaFoldNorm(const torch::Tensor& x, const NormTensors& norm) {
  const c10::cuda::CUDAGuard guard(x.device());
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
  FoldedNorm folded = {
      .statistics = NewStatistics(x),
      .scale_and_bias = at::empty({2, x.size(1)}, x.options())};
  NormForward launch = ForwardOf(x, norm, folded.statistics, workspace);
  launch.folded = folded.scale_and_bias.data_ptr();
  LaunchNormForward(launch, c10::cuda::getCurrentCUDAStream());
  return folded;
}

NormGradients CudaNormBackward(const NormBackwardInputs& inputs) {
  const torch::Tensor& x = inputs.x;
  const c10::cuda::CUDAGuard guard(x.device());
  const NormShape shape = RowsOf(x);
  NormGradients gradients = {.x = torch::empty_like(x),
                             .weight = NewFloats(x, x.size(1)),
                             .bias = NewFloats(x, x.size(1)),
                             .residual = {}};
  if (inputs.has_residual) {
    gradients.residual = inputs.relu ? torch::empty_like(x) : inputs.gradient;
  }
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(shape, ImageTypeOf(x)));
  LaunchNormBackward(
      {.shape = shape,
       .type = ImageTypeOf(x),
       .x = x.data_ptr(),
       .y = DataOf(inputs.y),
       .gradient = inputs.gradient.data_ptr(),
       .more_gradient = DataOf(inputs.more_gradient),
       .relu = inputs.relu,
       .weight = inputs.weight.data_ptr<float>(),
       .bias = inputs.bias.data_ptr<float>(),
       .mean = inputs.statistics.mean.data_ptr<float>(),
       .inverse_std = inputs.statistics.inverse_std.data_ptr<float>(),
       .x_gradient = gradients.x.data_ptr(),
       .residual_gradient = DataOf(gradients.residual),
       .weight_gradient = gradients.weight.data_ptr<float>(),
       .bias_gradient = gradients.bias.data_ptr<float>(),
       .workspace = workspace.data_ptr<float>()},
      c10::cuda::getCurrentCUDAStream());
  return gradients;
}

torch::Tensor CudaNormInputGradient(const torch::Tensor& x,
                                    const torch::Tensor& weight,
                                    const NormStatistics& statistics,
                                    const NormGradients& of_norm) {
  const c10::cuda::CUDAGuard guard(x.device());
  torch::Tensor gradient = torch::empty_like(x);
  LaunchNormBackward({.shape = RowsOf(x),
                      .type = ImageTypeOf(x),
                      .x = x.data_ptr(),
                      .gradient = of_norm.x.data_ptr(),
                      .relu = false,
                      .weight = weight.data_ptr<float>(),
                      .mean = statistics.mean.data_ptr<float>(),
                      .inverse_std = statistics.inverse_std.data_ptr<float>(),
                      .x_gradient = gradient.data_ptr(),
                      .weight_gradient = of_norm.weight.data_ptr<float>(),
                      .bias_gradient = of_norm.bias.data_ptr<float>(),
                      .sums_known = true},
                     c10::cuda::getCurrentCUDAStream());
  return gradient;
}

}  // namespace infeed
