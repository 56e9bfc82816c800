#include "trainer/kernels/max_pool.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/autograd.h>

#include "trainer/kernels/norm.h"
#include "trainer/launch/image_tensors.h"
#include "trainer/network/fused_norm.h"
#include "trainer/network/pool.h"

namespace infeed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr at::MemoryFormat kNhwc = at::MemoryFormat::ChannelsLast;

MaxPoolShape ShapeOf(at::IntArrayRef sizes, bool same) {
  MaxPoolShape shape = {.images = static_cast<int>(sizes[0]),
                        .height = static_cast<int>(sizes[2]),
                        .width = static_cast<int>(sizes[3]),
                        .channels = static_cast<int>(sizes[1])};
  if (same) {
    shape.top = shape.height % 2;
    shape.left = shape.width % 2;
  }
  return shape;
}

// [N, C, H, W] in channels_last order.
torch::Tensor NewImages(at::IntArrayRef sizes, const torch::Tensor& like,
                        torch::ScalarType type) {
  return at::empty(sizes, like.options().dtype(type), kNhwc);
}

struct MaxPoolOutputs {
  torch::Tensor y;
  torch::Tensor places;
};

// Requires: x is in channels_last order.
MaxPoolOutputs Pool(const torch::Tensor& x, bool same, const PooledNorm& norm) {
  const MaxPoolShape shape = ShapeOf(x.sizes(), same);
  const std::vector<std::int64_t> pooled = {
      x.size(0), x.size(1), shape.pooled_height(), shape.pooled_width()};
  MaxPoolOutputs outputs = {.y = NewImages(pooled, x, x.scalar_type()),
                            .places = NewImages(pooled, x, torch::kByte)};
  LaunchMaxPoolForward({.shape = shape,
                        .type = ImageTypeOf(x),
                        .x = x.data_ptr(),
                        .norm = norm,
                        .y = outputs.y.data_ptr(),
                        .places = outputs.places.data_ptr<std::uint8_t>()},
                       c10::cuda::getCurrentCUDAStream());
  return outputs;
}

class MaxPoolFunction : public torch::autograd::Function<MaxPoolFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               bool same) {
    const c10::cuda::CUDAGuard guard(x.device());
    const MaxPoolOutputs outputs = Pool(x.contiguous(kNhwc), same, /*norm=*/{});
    context->save_for_backward({outputs.places});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["same"] = same;
    return outputs.y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const torch::Tensor places = context->get_saved_variables()[0];
    const torch::Tensor of_y = gradients[0].contiguous(kNhwc);
    const c10::cuda::CUDAGuard guard(of_y.device());
    const std::vector<std::int64_t> sizes =
        context->saved_data["sizes"].toIntVector();
    torch::Tensor of_x = NewImages(sizes, of_y, of_y.scalar_type());
    LaunchMaxPoolBackward(
        {.shape = ShapeOf(sizes, context->saved_data["same"].toBool()),
         .type = ImageTypeOf(of_y),
         .gradient = of_y.data_ptr(),
         .places = places.data_ptr<std::uint8_t>(),
         .x_gradient = of_x.data_ptr()},
        c10::cuda::getCurrentCUDAStream());
    return {of_x, torch::Tensor()};
  }
};

class NormPoolFunction : public torch::autograd::Function<NormPoolFunction> {
 public:
  // weight and bias are norm's; they are arguments so that they get gradients.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias,
                               const NormTensors& norm, bool same) {
    const c10::cuda::CUDAGuard guard(x.device());
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    const torch::Tensor dense = x.contiguous(kNhwc);
    const torch::Tensor mean = NewFloats(x, x.size(1));
    const torch::Tensor inverse_std = NewFloats(x, x.size(1));
    const torch::Tensor workspace =
        NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
    LaunchNormForward(
        {.shape = RowsOf(x),
         .type = ImageTypeOf(x),
         .x = dense.data_ptr(),
         .weight = weight.data_ptr<float>(),
         .bias = bias.data_ptr<float>(),
         .epsilon = static_cast<float>(norm.epsilon),
         .momentum = static_cast<float>(norm.momentum),
         .moving_mean = norm.moving_mean.data_ptr<float>(),
         .moving_variance = norm.moving_variance.data_ptr<float>(),
         .sums = norm.sums.defined() ? norm.sums.data_ptr<float>() : nullptr,
         .mean = mean.data_ptr<float>(),
         .inverse_std = inverse_std.data_ptr<float>(),
         .workspace = workspace.data_ptr<float>()},
        stream);
    const MaxPoolOutputs outputs =
        Pool(dense, same,
             {.weight = weight.data_ptr<float>(),
              .bias = bias.data_ptr<float>(),
              .mean = mean.data_ptr<float>(),
              .inverse_std = inverse_std.data_ptr<float>()});
    context->save_for_backward(
        {dense, outputs.places, weight, mean, inverse_std});
    context->saved_data["same"] = same;
    return outputs.y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor& x = saved[0];
    const torch::Tensor of_y = gradients[0].contiguous(kNhwc);
    const c10::cuda::CUDAGuard guard(x.device());
    const torch::Tensor of_x = NewImages(x.sizes(), x, x.scalar_type());
    const torch::Tensor of_weight = NewFloats(x, x.size(1));
    const torch::Tensor of_bias = NewFloats(x, x.size(1));
    const torch::Tensor workspace =
        NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
    LaunchNormBackward(
        {.shape = RowsOf(x),
         .type = ImageTypeOf(x),
         .x = x.data_ptr(),
         .gradient = of_y.data_ptr(),
         .places = saved[1].data_ptr<std::uint8_t>(),
         .pooled = ShapeOf(x.sizes(), context->saved_data["same"].toBool()),
         .weight = saved[2].data_ptr<float>(),
         .mean = saved[3].data_ptr<float>(),
         .inverse_std = saved[4].data_ptr<float>(),
         .x_gradient = of_x.data_ptr(),
         .weight_gradient = of_weight.data_ptr<float>(),
         .bias_gradient = of_bias.data_ptr<float>(),
         .workspace = workspace.data_ptr<float>()},
        c10::cuda::getCurrentCUDAStream());
    return {of_x, of_weight, of_bias, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

bool CudaMaxPoolTakes(const torch::Tensor& x) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  // As many threads as windows, and those above and left of the first ones.
  const std::int64_t threads =
      x.size(0) * x.size(1) * (x.size(2) / 2 + 1) * (x.size(3) / 2 + 1);
  return HasKernels(x) && threads <= kMost;
}

torch::Tensor CudaMaxPooled(const torch::Tensor& x, bool same) {
  return MaxPoolFunction::apply(x, same);
}

torch::Tensor CudaFusedNormPool(const torch::Tensor& x, const NormTensors& norm,
                                bool same) {
  return NormPoolFunction::apply(x, norm.weight, norm.bias, norm, same);
}

}  // namespace infeed
