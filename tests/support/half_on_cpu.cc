// Operations on float16 that LibTorch 1 lacks on a CPU: computed in float32,
// and rounded. Linked into a test, they take the place of LibTorch's.
#include <torch/version.h>

#if TORCH_VERSION_MAJOR < 2

#include <array>
#include <cstdint>
#include <tuple>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/convolution_backward_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/convolution_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/ops/relu_cpu_dispatch.h>
#include <torch/library.h>

namespace {

using at::IntArrayRef;
using at::Tensor;
namespace libtorch = at::compositeexplicitautograd;

bool IsHalf(const Tensor& tensor) { return tensor.scalar_type() == at::kHalf; }

Tensor Exact(const Tensor& tensor) {
  return IsHalf(tensor) ? tensor.to(at::kFloat) : tensor;
}

Tensor As(const Tensor& like, const Tensor& tensor) {
  return tensor.defined() ? tensor.to(like.scalar_type()) : tensor;
}

Tensor Convolution(const Tensor& x, const Tensor& weight,
                   const c10::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups) {
  c10::optional<Tensor> exact;
  if (bias && bias->defined()) {
    exact = Exact(*bias);
  }
  return As(
      x, libtorch::convolution(Exact(x), Exact(weight), exact, stride, padding,
                               dilation, transposed, output_padding, groups));
}

std::tuple<Tensor, Tensor, Tensor> ConvolutionBackward(
    const Tensor& gradient, const Tensor& x, const Tensor& weight,
    at::OptionalSymIntArrayRef bias_sizes, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, std::int64_t groups,
    std::array<bool, 3> needed) {
  const auto [of_x, of_weight, of_bias] = libtorch::convolution_backward_symint(
      Exact(gradient), Exact(x), Exact(weight), bias_sizes, stride, padding,
      dilation, transposed, output_padding, groups, needed);
  return {As(x, of_x), As(x, of_weight), As(x, of_bias)};
}

Tensor AddProduct(const Tensor& added, const Tensor& x, const Tensor& y,
                  const at::Scalar& beta, const at::Scalar& alpha) {
  return As(x, at::cpu::addmm(Exact(added), Exact(x), Exact(y), beta, alpha));
}

Tensor Product(const Tensor& x, const Tensor& y) {
  return As(x, at::cpu::mm(Exact(x), Exact(y)));
}

Tensor& Rectify(Tensor& x) {
  return IsHalf(x) ? x.copy_(Exact(x).relu_()) : at::cpu::relu_(x);
}

at::ScalarType autocast_type = at::kBFloat16;

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("addmm", &AddProduct);
  library.impl("mm", &Product);
  library.impl("relu_", &Rectify);
  library.impl("convolution", &Convolution);
  library.impl("convolution_backward", &ConvolutionBackward);
}

}  // namespace

// LibTorch's accept bfloat16 alone.
at::ScalarType at::autocast::get_autocast_cpu_dtype() { return autocast_type; }
void at::autocast::set_autocast_cpu_dtype(at::ScalarType type) {
  autocast_type = type;
}

#endif
