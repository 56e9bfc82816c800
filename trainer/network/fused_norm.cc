#include "trainer/network/fused_norm.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#ifdef INFEED_CUDA
#include "trainer/network/gpu_norm.h"
#endif

namespace infeed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr at::MemoryFormat kChannelsLast = at::MemoryFormat::ChannelsLast;

// [C] in a shape that broadcasts to [N, C, H, W].
torch::Tensor Wide(const torch::Tensor& channels) {
  return channels.reshape({1, -1, 1, 1});
}

torch::Tensor Exact(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat) : x;
}

void Move(torch::Tensor moving, const torch::Tensor& value, double momentum) {
  moving.mul_(1 - momentum).add_(value, momentum);
}

// norm(x), in at least float32.
torch::Tensor NormOf(const torch::Tensor& x, const NormTensors& norm,
                     NormStatistics& statistics) {
  const torch::Tensor exact = Exact(x);
  const torch::Tensor mean = exact.mean({0, 2, 3});
  const torch::Tensor centred = exact - Wide(mean);
  const torch::Tensor variance = centred.square().mean({0, 2, 3});
  const auto count = static_cast<double>(x.numel() / x.size(1));
  Move(norm.moving_mean, mean, norm.momentum);
  Move(norm.moving_variance, variance * (count / std::max(1.0, count - 1)),
       norm.momentum);
  const torch::Tensor inverse_std = (variance + norm.epsilon).rsqrt();
  statistics = {.mean = mean, .inverse_std = inverse_std};
  return centred * Wide(norm.weight * inverse_std) + Wide(norm.bias);
}

NormOutputs ForwardWithLibrary(const torch::Tensor& x, const NormTensors& norm,
                               const NormResidual& residual, bool relu) {
  NormOutputs outputs;
  torch::Tensor y = NormOf(x, norm, outputs.of_x);
  if (residual.norm) {
    y.add_(NormOf(residual.x, *residual.norm, outputs.of_residual));
  } else if (residual.x.defined()) {
    y.add_(residual.x);
  }
  if (relu) {
    y.relu_();
  }
  outputs.y = y.to(x.scalar_type()).contiguous(kChannelsLast);
  return outputs;
}

// The tensors that a norm's backward pass needs.
struct Saved {
  torch::Tensor x;
  torch::Tensor y;  // with ReLU
  torch::Tensor weight;
  NormStatistics statistics;
};

NormGradients BackwardWithLibrary(const Saved& saved,
                                  const torch::Tensor& gradient, bool relu) {
  NormGradients gradients;
  gradients.residual =
      relu ? torch::where(saved.y.le(0), torch::zeros_like(gradient), gradient)
           : gradient;
  const torch::Tensor g = Exact(gradients.residual);
  const auto& [mean, inverse_std] = saved.statistics;
  const torch::Tensor centred = Exact(saved.x) - Wide(mean);
  const torch::Tensor products = (g * centred).sum({0, 2, 3});
  gradients.bias = g.sum({0, 2, 3});
  gradients.weight = products * inverse_std;
  const auto count = static_cast<double>(saved.x.numel() / saved.x.size(1));
  const torch::Tensor slope = products * inverse_std.square() / count;
  gradients.x = (Wide(saved.weight * inverse_std) *
                 (g - Wide(gradients.bias / count) - centred * Wide(slope)))
                    .to(saved.x.scalar_type());
  return gradients;
}

NormOutputs Forward(const torch::Tensor& x, const NormTensors& norm,
                    const NormResidual& residual, bool relu) {
#ifdef INFEED_CUDA
  if (CudaNormTakes(x)) {
    return CudaNormForward(x, norm, residual, relu);
  }
#endif
  return ForwardWithLibrary(x, norm, residual, relu);
}

NormGradients Backward(const Saved& saved, const torch::Tensor& gradient,
                       bool relu, bool has_residual) {
#ifdef INFEED_CUDA
  if (CudaNormTakes(saved.x)) {
    return CudaNormBackward(saved.statistics, saved.y, saved.x, saved.weight,
                            gradient, relu, has_residual);
  }
#else
  static_cast<void>(has_residual);
#endif
  return BackwardWithLibrary(saved, gradient, relu);
}

class FusedNormFunction : public torch::autograd::Function<FusedNormFunction> {
 public:
  // weight and bias are those of norm, residual_weight and residual_bias those
  // of residual.norm; as arguments they get gradients. They and residual_x are
  // not used where there is no residual, or no norm of it, but LibTorch needs
  // tensors.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias,
                               const torch::Tensor& residual_x,
                               const torch::Tensor& residual_weight,
                               const torch::Tensor& residual_bias,
                               const NormTensors& norm,
                               const NormResidual& residual, bool relu) {
    static_cast<void>(bias);
    static_cast<void>(residual_bias);
    const torch::Tensor dense = x.contiguous(kChannelsLast);
    const bool has_residual = residual.x.defined();
    const bool has_norm = residual.norm.has_value();
    const torch::Tensor added =
        has_residual ? residual_x.contiguous(kChannelsLast) : torch::Tensor();
    const NormOutputs outputs =
        Forward(dense, norm, {.x = added, .norm = residual.norm}, relu);
    context->save_for_backward(
        {dense, relu ? outputs.y : torch::Tensor(), weight, outputs.of_x.mean,
         outputs.of_x.inverse_std, has_norm ? added : torch::Tensor(),
         has_norm ? residual_weight : torch::Tensor(), outputs.of_residual.mean,
         outputs.of_residual.inverse_std});
    context->saved_data["relu"] = relu;
    context->saved_data["has_residual"] = has_residual;
    context->saved_data["has_norm"] = has_norm;
    return outputs.y;
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    const variable_list tensors = context->get_saved_variables();
    const NormGradients of_x =
        Backward({.x = tensors[0],
                  .y = tensors[1],
                  .weight = tensors[2],
                  .statistics = {tensors[3], tensors[4]}},
                 gradients[0].contiguous(kChannelsLast),
                 context->saved_data["relu"].toBool(),
                 context->saved_data["has_residual"].toBool());
    NormGradients of_residual;
    if (context->saved_data["has_norm"].toBool()) {
      of_residual = Backward({.x = tensors[5],
                              .y = {},
                              .weight = tensors[6],
                              .statistics = {tensors[7], tensors[8]}},
                             of_x.residual, /*relu=*/false,
                             /*has_residual=*/false);
    } else if (context->saved_data["has_residual"].toBool()) {
      of_residual.x = of_x.residual;
    }
    const torch::Tensor none;
    return {of_x.x,
            of_x.weight,
            of_x.bias,
            of_residual.x,
            of_residual.weight,
            of_residual.bias,
            none,
            none,
            none};
  }
};

}  // namespace

torch::Tensor FusedNorm(const torch::Tensor& x, const NormTensors& norm,
                        const NormResidual& residual, bool relu) {
  const NormTensors& residual_norm = residual.norm ? *residual.norm : norm;
  const auto used = [](const torch::Tensor& tensor, bool is_used) {
    return is_used ? tensor : tensor.detach();
  };
  const bool has_norm = residual.norm.has_value();
  return FusedNormFunction::apply(
      x, norm.weight, norm.bias,
      residual.x.defined() ? residual.x.to(x.scalar_type()) : x.detach(),
      used(residual_norm.weight, has_norm), used(residual_norm.bias, has_norm),
      norm, residual, relu);
}

}  // namespace infeed
