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

torch::Tensor ConvolveImages(torch::nn::Conv2d& convolution,
                             const torch::Tensor& x) {
  torch::Tensor weight = convolution->weight;
  if (x.size(1) == weight.size(1)) {
    return Convolve(convolution, x);
  }
  if (weight.size(1) == 1) {
    // In place of the images, which are larger. ITU-R BT.601.
    weight = at::cat({weight * 0.299, weight * 0.587, weight * 0.114}, 1);
  }
  const std::int64_t more = x.size(1) - weight.size(1);
  return at::conv2d(x, at::constant_pad_nd(weight, {0, 0, 0, 0, 0, more}),
                    convolution->bias, convolution->options.stride(),
                    weight.size(2) / 2);
}

}  // namespace infeed
