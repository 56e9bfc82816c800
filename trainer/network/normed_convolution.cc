#include "trainer/network/normed_convolution.h"

#ifdef INFEED_CUDA
#include <cstddef>
#include <cstdint>

#include <ATen/ATen.h>
#include <torch/autograd.h>
#endif

namespace infeed {
namespace {

#ifdef INFEED_CUDA
constexpr at::MemoryFormat kLayout = at::MemoryFormat::ChannelsLast;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class NormedConvolution : public torch::autograd::Function<NormedConvolution> {
 public:
  // norm_weight and norm_bias belong to norm; they are arguments so that they
  // get gradients. Returns the result and its sums.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const torch::Tensor& norm_weight,
                               const torch::Tensor& norm_bias,
                               const NormTensors& norm, std::int64_t stride,
                               std::int64_t padding) {
    const NormedConvolutionOutputs outputs = CudaNormedConvolution(
        {.x = x, .weight = weight, .stride = stride, .padding = padding}, norm);
    context->save_for_backward(
        {x, weight, norm_weight, norm_bias, outputs.statistics.mean,
         outputs.statistics.inverse_std, outputs.folded});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->mark_non_differentiable({outputs.y.sums});
    context->set_materialize_grads(false);
    return {outputs.y.x, outputs.y.sums};
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    if (!gradients[0].defined()) {
      return variable_list(kArguments);
    }
    const variable_list tensors = context->get_saved_variables();
    const NormedConvolutionGradients found = CudaNormedConvolutionBackward(
        {.x = tensors[0],
         .weight = tensors[1],
         .stride = context->saved_data["stride"].toInt(),
         .padding = context->saved_data["padding"].toInt()},
        {.weight = tensors[2],
         .bias = tensors[3],
         .moving_mean = {},
         .moving_variance = {}},
        {.mean = tensors[4], .inverse_std = tensors[5]}, tensors[6],
        gradients[0].contiguous(kLayout));
    variable_list all = {found.x, found.weight, found.norm_weight,
                         found.norm_bias};
    all.resize(kArguments);
    return all;
  }

 private:
  static constexpr std::size_t kArguments = 7;  // of forward()
};

// Whether all have gradients, and none is frozen.
bool AllAreTrained(torch::nn::Conv2d& convolution, const torch::Tensor& x,
                   const NormTensors& norm) {
  return at::GradMode::is_enabled() && x.requires_grad() &&
         convolution->weight.requires_grad() && norm.weight.requires_grad() &&
         norm.bias.requires_grad();
}
#endif

}  // namespace

SummedImages ConvolveNormed(torch::nn::Conv2d& convolution,
                            const torch::Tensor& x, const NormTensors& norm) {
#ifdef INFEED_CUDA
  if (x.scalar_type() == torch::kHalf && CudaNormTakes(x) &&
      !convolution->bias.defined() && convolution->options.groups() == 1 &&
      AllAreTrained(convolution, x, norm)) {
    const SquareConvolution dense = {
        .x = x.contiguous(kLayout),
        .weight = convolution->weight.to(torch::kHalf).contiguous(kLayout),
        .stride = convolution->options.stride()->at(0),
        .padding = convolution->weight.size(2) / 2};
    if (CudaConvolvesNormed(dense)) {
      const variable_list found = NormedConvolution::apply(
          dense.x, dense.weight, norm.weight, norm.bias, norm, dense.stride,
          dense.padding);
      return {found[0], found[1]};
    }
  }
#endif
  return ConvolveSummed(convolution, FusedNorm(x, norm, {}, /*relu=*/true));
}

}  // namespace infeed
