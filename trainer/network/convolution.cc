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

}  // namespace infeed
