#include "trainer/kernels/max_pool.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/autograd.h>

#include "trainer/network/pool.h"

namespace infeed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr at::MemoryFormat kChannelsLast = at::MemoryFormat::ChannelsLast;

ImageType TypeOf(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? ImageType::kBfloat16
                                             : ImageType::kFloat32;
}

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
  return at::empty(sizes, like.options().dtype(type), kChannelsLast);
}

class MaxPoolFunction : public torch::autograd::Function<MaxPoolFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               bool same) {
    const c10::cuda::CUDAGuard guard(x.device());
    const MaxPoolShape shape = ShapeOf(x.sizes(), same);
    const torch::Tensor dense = x.contiguous(kChannelsLast);
    const std::vector<std::int64_t> pooled = {
        x.size(0), x.size(1), shape.pooled_height(), shape.pooled_width()};
    torch::Tensor y = NewImages(pooled, x, x.scalar_type());
    const torch::Tensor places = NewImages(pooled, x, torch::kByte);
    LaunchMaxPoolForward({.shape = shape,
                          .type = TypeOf(x),
                          .x = dense.data_ptr(),
                          .y = y.data_ptr(),
                          .places = places.data_ptr<std::uint8_t>()},
                         c10::cuda::getCurrentCUDAStream());
    context->save_for_backward({places});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["same"] = same;
    return y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const torch::Tensor places = context->get_saved_variables()[0];
    const torch::Tensor of_y = gradients[0].contiguous(kChannelsLast);
    const c10::cuda::CUDAGuard guard(of_y.device());
    const std::vector<std::int64_t> sizes =
        context->saved_data["sizes"].toIntVector();
    torch::Tensor of_x = NewImages(sizes, of_y, of_y.scalar_type());
    LaunchMaxPoolBackward(
        {.shape = ShapeOf(sizes, context->saved_data["same"].toBool()),
         .type = TypeOf(of_y),
         .gradient = of_y.data_ptr(),
         .places = places.data_ptr<std::uint8_t>(),
         .x_gradient = of_x.data_ptr()},
        c10::cuda::getCurrentCUDAStream());
    return {of_x, torch::Tensor()};
  }
};

}  // namespace

bool CudaMaxPoolTakes(const torch::Tensor& x) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  // As many threads as windows, and those above and left of the first ones.
  const std::int64_t threads =
      x.size(0) * x.size(1) * (x.size(2) / 2 + 1) * (x.size(3) / 2 + 1);
  return x.is_cuda() && x.numel() > 0 && threads <= kMost &&
         (x.scalar_type() == torch::kFloat ||
          x.scalar_type() == torch::kBFloat16);
}

torch::Tensor CudaMaxPooled(const torch::Tensor& x, bool same) {
  return MaxPoolFunction::apply(x, same);
}

}  // namespace infeed
