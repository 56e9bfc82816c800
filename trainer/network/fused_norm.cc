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

NormOutputs ForwardWithLibrary(const torch::Tensor& x, const NormTensors& norm,
                               const torch::Tensor& residual, bool relu) {
  const torch::Tensor exact = Exact(x);
  const torch::Tensor mean = exact.mean({0, 2, 3});
  const torch::Tensor centred = exact - Wide(mean);
  const torch::Tensor variance = centred.square().mean({0, 2, 3});
  const auto count = static_cast<double>(x.numel() / x.size(1));
  Move(norm.moving_mean, mean, norm.momentum);
  Move(norm.moving_variance, variance * (count / std::max(1.0, count - 1)),
       norm.momentum);
  const torch::Tensor inverse_std = (variance + norm.epsilon).rsqrt();
  torch::Tensor y = centred * Wide(norm.weight * inverse_std) + Wide(norm.bias);
  if (residual.defined()) {
    y.add_(residual);
  }
  if (relu) {
    y.relu_();
  }
  return {.y = y.to(x.scalar_type()).contiguous(kChannelsLast),
          .mean = mean,
          .inverse_std = inverse_std};
}

// The tensors that the backward pass needs.
struct Saved {
  torch::Tensor x;
  torch::Tensor y;  // with ReLU
  torch::Tensor weight;
  torch::Tensor mean;
  torch::Tensor inverse_std;
};

NormGradients BackwardWithLibrary(const Saved& saved,
                                  const torch::Tensor& gradient, bool relu) {
  NormGradients gradients;
  gradients.residual =
      relu ? torch::where(saved.y.le(0), torch::zeros_like(gradient), gradient)
           : gradient;
  const torch::Tensor g = Exact(gradients.residual);
  const torch::Tensor centred = Exact(saved.x) - Wide(saved.mean);
  const torch::Tensor products = (g * centred).sum({0, 2, 3});
  gradients.bias = g.sum({0, 2, 3});
  gradients.weight = products * saved.inverse_std;
  const auto count = static_cast<double>(saved.x.numel() / saved.x.size(1));
  const torch::Tensor slope = products * saved.inverse_std.square() / count;
  gradients.x = (Wide(saved.weight * saved.inverse_std) *
                 (g - Wide(gradients.bias / count) - centred * Wide(slope)))
                    .to(saved.x.scalar_type());
  return gradients;
}

NormOutputs Forward(const torch::Tensor& x, const NormTensors& norm,
                    const torch::Tensor& residual, bool relu) {
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
    return CudaNormBackward(
        {.y = saved.y, .mean = saved.mean, .inverse_std = saved.inverse_std},
        saved.x, saved.weight, gradient, relu, has_residual);
  }
#else
  static_cast<void>(has_residual);
#endif
  return BackwardWithLibrary(saved, gradient, relu);
}

class FusedNormFunction : public torch::autograd::Function<FusedNormFunction> {
 public:
  // weight and bias are those of norm; as arguments they get gradients.
  // residual: not used without has_residual, but LibTorch needs a tensor.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias,
                               const torch::Tensor& residual,
                               const NormTensors& norm, bool has_residual,
                               bool relu) {
    static_cast<void>(bias);
    const torch::Tensor dense = x.contiguous(kChannelsLast);
    const torch::Tensor added =
        has_residual ? residual.contiguous(kChannelsLast) : torch::Tensor();
    const NormOutputs outputs = Forward(dense, norm, added, relu);
    context->save_for_backward({dense, relu ? outputs.y : torch::Tensor(),
                                weight, outputs.mean, outputs.inverse_std});
    context->saved_data["relu"] = relu;
    context->saved_data["has_residual"] = has_residual;
    return outputs.y;
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    const variable_list tensors = context->get_saved_variables();
    const bool has_residual = context->saved_data["has_residual"].toBool();
    const NormGradients found =
        Backward({.x = tensors[0],
                  .y = tensors[1],
                  .weight = tensors[2],
                  .mean = tensors[3],
                  .inverse_std = tensors[4]},
                 gradients[0].contiguous(kChannelsLast),
                 context->saved_data["relu"].toBool(), has_residual);
    const torch::Tensor none;
    return {
        found.x, found.weight, found.bias, has_residual ? found.residual : none,
        none,    none,         none};
  }
};

}  // namespace

torch::Tensor FusedNorm(const torch::Tensor& x, const NormTensors& norm,
                        const torch::Tensor& residual, bool relu) {
  const bool has_residual = residual.defined();
  return FusedNormFunction::apply(
      x, norm.weight, norm.bias,
      has_residual ? residual.to(x.scalar_type()) : x.detach(), norm,
      has_residual, relu);
}

}  // namespace infeed
