#include "trainer/network/blur.h"

#include <algorithm>
#include <cstdint>

#include <ATen/ATen.h>

namespace infeed {
namespace {

// x with one more row or column on both ends. at::reflection_pad2d() adds up
// gradients in any order on a GPU. A single row is its own reflection.
torch::Tensor Reflected(const torch::Tensor& x, std::int64_t dimension) {
  const std::int64_t size = x.size(dimension);
  const std::int64_t next = std::min<std::int64_t>(1, size - 1);
  return at::cat({x.narrow(dimension, next, 1), x,
                  x.narrow(dimension, size - 1 - next, 1)},
                 dimension);
}

}  // namespace

torch::Tensor Blurred(const torch::Tensor& x) {
  const torch::Tensor padded = Reflected(Reflected(x, 2), 3);
  return at::avg_pool2d(at::avg_pool2d(padded, 2, 1), 2, 2);
}

}  // namespace infeed
