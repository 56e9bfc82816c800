#include "trainer/network/convolution.h"

#include <cstdint>

#include <ATen/ATen.h>

namespace infeed {

torch::Tensor Convolve(torch::nn::Conv2d& convolution, const torch::Tensor& x) {
  const std::int64_t stride = convolution->options.stride()->at(1);
  if (!x.is_cpu() || x.size(3) >= stride) {
    return convolution->forward(x);
  }
  return convolution->forward(
      at::constant_pad_nd(x, {0, stride - x.size(3)}, 0));
}

torch::Tensor ConvolvePadded(torch::nn::Conv2d& convolution,
                             const torch::Tensor& x) {
  const torch::Tensor& weight = convolution->weight;
  const std::int64_t more = x.size(1) - weight.size(1);
  if (more <= 0) {
    return Convolve(convolution, x);
  }
  return at::conv2d(x, at::constant_pad_nd(weight, {0, 0, 0, 0, 0, more}),
                    convolution->bias, convolution->options.stride(),
                    weight.size(2) / 2);
}

}  // namespace infeed
