#include "trainer/network/fused_norm.h"

#include <algorithm>
#include <cstddef>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "trainer/network/pool.h"

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
  const torch::ScalarType type = x.scalar_type();
  return type == torch::kBFloat16 || type == torch::kHalf ? x.to(torch::kFloat)
                                                          : x;
}

void Move(torch::Tensor moving, const torch::Tensor& value, double momentum) {
  moving.mul_(1 - momentum).add_(value, momentum);
}

// norm(x) of x without its mean.
torch::Tensor Scaled(const torch::Tensor& centred, const torch::Tensor& weight,
                     const torch::Tensor& bias,
                     const torch::Tensor& inverse_std) {
  return centred * Wide(weight * inverse_std) + Wide(bias);
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
  return Scaled(centred, norm.weight, norm.bias, inverse_std);
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

NormGradients BackwardWithLibrary(const NormBackwardInputs& inputs) {
  const auto& [mean, inverse_std] = inputs.statistics;
  const torch::Tensor centred = Exact(inputs.x) - Wide(mean);
  const torch::Tensor of_y = inputs.more_gradient.defined()
                                 ? inputs.gradient + inputs.more_gradient
                                 : inputs.gradient;
  NormGradients gradients;
  gradients.residual = of_y;
  if (inputs.relu) {
    const torch::Tensor y =
        inputs.has_residual
            ? inputs.y
            : Scaled(centred, inputs.weight, inputs.bias, inverse_std);
    gradients.residual = torch::where(y.le(0), torch::zeros_like(of_y), of_y);
  }
  const torch::Tensor g = Exact(gradients.residual);
  const torch::Tensor products = (g * centred).sum({0, 2, 3});
  gradients.bias = g.sum({0, 2, 3});
  gradients.weight = products * inverse_std;
  const auto count = static_cast<double>(inputs.x.numel() / inputs.x.size(1));
  const torch::Tensor slope = products * inverse_std.square() / count;
  gradients.x = (Wide(inputs.weight * inverse_std) *
                 (g - Wide(gradients.bias / count) - centred * Wide(slope)))
                    .to(inputs.x.scalar_type());
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

NormGradients Backward(const NormBackwardInputs& inputs) {
#ifdef INFEED_CUDA
  if (CudaNormTakes(inputs.x)) {
    return CudaNormBackward(inputs);
  }
#endif
  return BackwardWithLibrary(inputs);
}

// Another tensor with the same memory, which is not a view for autograd.
torch::Tensor TwinOf(const torch::Tensor& tensor) {
  return torch::empty({0}, tensor.options()).set_(tensor);
}

class FusedNormFunction : public torch::autograd::Function<FusedNormFunction> {
 public:
  // weight and bias belong to norm, residual_weight and residual_bias to
  // residual.norm; they are arguments so that they get gradients. Without a
  // residual, or without its norm, the unused ones are placeholders, since
  // LibTorch needs tensors. Returns one tensor, or two with is_forked.
  static variable_list forward(
      AutogradContext* context, const torch::Tensor& x,
      const torch::Tensor& weight, const torch::Tensor& bias,
      const torch::Tensor& residual_x, const torch::Tensor& residual_weight,
      const torch::Tensor& residual_bias, const NormTensors& norm,
      const NormResidual& residual, bool relu, bool is_forked) {
    const torch::Tensor dense = x.contiguous(kChannelsLast);
    const bool has_residual = residual.x.defined();
    const bool has_norm = residual.norm.has_value();
    const torch::Tensor added =
        has_residual ? residual_x.contiguous(kChannelsLast) : torch::Tensor();
    const NormOutputs outputs =
        Forward(dense, norm, {.x = added, .norm = residual.norm}, relu);
    context->save_for_backward(
        {dense, relu && has_residual ? outputs.y : torch::Tensor(), weight,
         bias, outputs.of_x.mean, outputs.of_x.inverse_std,
         has_norm ? added : torch::Tensor(),
         has_norm ? residual_weight : torch::Tensor(),
         has_norm ? residual_bias : torch::Tensor(), outputs.of_residual.mean,
         outputs.of_residual.inverse_std});
    context->saved_data["relu"] = relu;
    context->saved_data["has_residual"] = has_residual;
    context->saved_data["has_norm"] = has_norm;
    // One of two results may have no gradient.
    context->set_materialize_grads(false);
    return is_forked ? variable_list{outputs.y, TwinOf(outputs.y)}
                     : variable_list{outputs.y};
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    std::erase_if(gradients, [](const auto& one) { return !one.defined(); });
    if (gradients.empty()) {
      return variable_list(kArguments);
    }
    gradients.resize(2);
    const variable_list tensors = context->get_saved_variables();
    const NormGradients of_x = Backward(
        {.x = tensors[0],
         .y = tensors[1],
         .weight = tensors[2],
         .bias = tensors[3],
         .statistics = {tensors[4], tensors[5]},
         .gradient = gradients[0].contiguous(kChannelsLast),
         .more_gradient = gradients[1].defined()
                              ? gradients[1].contiguous(kChannelsLast)
                              : torch::Tensor(),
         .relu = context->saved_data["relu"].toBool(),
         .has_residual = context->saved_data["has_residual"].toBool()});
    NormGradients of_residual;
    if (context->saved_data["has_norm"].toBool()) {
      of_residual = Backward({.x = tensors[6],
                              .y = {},
                              .weight = tensors[7],
                              .bias = tensors[8],
                              .statistics = {tensors[9], tensors[10]},
                              .gradient = of_x.residual});
    } else if (context->saved_data["has_residual"].toBool()) {
      of_residual.x = of_x.residual;
    }
    variable_list found = {of_x.x,        of_x.weight,        of_x.bias,
                           of_residual.x, of_residual.weight, of_residual.bias};
    found.resize(kArguments);
    return found;
  }

 private:
  static constexpr std::size_t kArguments = 10;  // of forward()
};

// FusedNormFunction with the arguments that it has.
variable_list Apply(const torch::Tensor& x, const NormTensors& norm,
                    const NormResidual& residual, bool relu, bool is_forked) {
  const NormTensors& residual_norm = residual.norm ? *residual.norm : norm;
  const auto used = [](const torch::Tensor& tensor, bool is_used) {
    return is_used ? tensor : tensor.detach();
  };
  const bool has_norm = residual.norm.has_value();
  return FusedNormFunction::apply(
      x, norm.weight, norm.bias,
      residual.x.defined() ? residual.x.to(x.scalar_type()) : x.detach(),
      used(residual_norm.weight, has_norm), used(residual_norm.bias, has_norm),
      norm, residual, relu, is_forked);
}

}  // namespace

torch::Tensor FusedNorm(const torch::Tensor& x, const NormTensors& norm,
                        const NormResidual& residual, bool relu) {
  return Apply(x, norm, residual, relu, /*is_forked=*/false)[0];
}

torch::Tensor FusedNormPool(const torch::Tensor& x, const NormTensors& norm,
                            bool same) {
#ifdef INFEED_CUDA
  if (CudaNormTakes(x) && CudaMaxPoolTakes(x)) {
    return CudaFusedNormPool(x, norm, same);
  }
#endif
  return MaxPooled(FusedNorm(x, norm, {}, /*relu=*/true), {.same = same});
}

std::pair<torch::Tensor, torch::Tensor> ForkedNorm(
    const torch::Tensor& x, const NormTensors& norm,
    const NormResidual& residual) {
  const variable_list both =
      Apply(x, norm, residual, /*relu=*/true, /*is_forked=*/true);
  return {both[0], both[1]};
}

}  // namespace infeed
