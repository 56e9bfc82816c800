#include "trainer/network/convolution.h"

#include <cstdint>

#include <ATen/ATen.h>
#ifdef INFEED_CUDA
#include <torch/autograd.h>
#endif

#include "base/rounding.h"
#include "trainer/model/options.h"

namespace infeed {
namespace {

// Of SpaceToDepth().
constexpr std::int64_t kPixelChannels = 4;
constexpr std::int64_t kSquareChannels = 4 * kPixelChannels;

// x [N, C, H, W] with more zeros, as at::constant_pad_nd() takes them, up to
// four channels.
torch::Tensor Padded(const torch::Tensor& x, std::int64_t before,
                     std::int64_t after) {
  return at::constant_pad_nd(
      x, {before, after, before, after, 0, kPixelChannels - x.size(1)});
}

// [N, 4, H, W] as [N, 16, H / 2, W / 2] in channels_last order.
torch::Tensor Squares(const torch::Tensor& x) {
  return x.permute({0, 2, 3, 1})
      .unflatten(2, {x.size(3) / 2, 2})
      .unflatten(1, {x.size(2) / 2, 2})
      .permute({0, 1, 3, 2, 4, 5})
      .flatten(3)
      .permute({0, 3, 1, 2});
}

// A weight [out, C, k, k] for images of three colors, in place of images of C
// channels, which are larger.
torch::Tensor OfColors(const torch::Tensor& weight) {
  const std::int64_t channels = weight.size(1);
  if (channels == kImageColors) {
    return weight;
  }
  if (channels == 1) {  // ITU-R BT.601.
    return at::cat({weight * 0.299, weight * 0.587, weight * 0.114}, 1);
  }
  const auto filled = RoundUp<std::int64_t>(channels, kImageColors);
  return at::constant_pad_nd(weight, {0, 0, 0, 0, 0, filled - channels})
      .unflatten(1, {filled / kImageColors, kImageColors})
      .sum(1);
}

// Whether ConvolveImages() is Convolve().
bool HasOwnWeight(torch::nn::Conv2d& convolution, const torch::Tensor& x) {
  // With four input channels the fourth is zero padding; its weights are
  // ignored.
  return x.size(1) <= kImageColors && x.size(1) == convolution->weight.size(1);
}

// The convolution of ConvolveImages(), but for its bias.
SquareConvolution OnImages(torch::nn::Conv2d& convolution,
                           const torch::Tensor& x) {
  const torch::Tensor weight = OfColors(convolution->weight);
  if (x.size(1) == kSquareChannels) {
    // The first of the 8 rows begins a square, the first of the 7 ends one.
    return {.x = x, .weight = Squares(Padded(weight, 1, 0))};
  }
  const std::int64_t more = x.size(1) - kImageColors;
  return {.x = x,
          .weight = at::constant_pad_nd(weight, {0, 0, 0, 0, 0, more}),
          .stride = convolution->options.stride()->at(0),
          .padding = weight.size(2) / 2};
}

#ifdef INFEED_CUDA
constexpr at::MemoryFormat kNhwc = at::MemoryFormat::ChannelsLast;

class SummedConvolution : public torch::autograd::Function<SummedConvolution> {
 public:
  // Returns the result and its sums.
  static torch::autograd::variable_list forward(
      torch::autograd::AutogradContext* context, const torch::Tensor& x,
      const torch::Tensor& weight, std::int64_t stride, std::int64_t padding) {
    const SummedImages result = CudaSummedConvolution(
        {.x = x, .weight = weight, .stride = stride, .padding = padding});
    context->save_for_backward({x, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["needs_x"] = x.requires_grad();
    context->mark_non_differentiable({result.sums});
    context->set_materialize_grads(false);
    return {result.x, result.sums};
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context,
      const torch::autograd::variable_list& gradients) {
    const torch::autograd::variable_list saved = context->get_saved_variables();
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const std::int64_t padding = context->saved_data["padding"].toInt();
    const auto [of_x, of_weight, of_bias] = at::convolution_backward(
        gradients[0], saved[0], saved[1], at::OptionalIntArrayRef(),
        {stride, stride}, {padding, padding}, /*dilation=*/{1, 1},
        /*transposed=*/false, /*output_padding=*/{0, 0}, /*groups=*/1,
        {context->saved_data["needs_x"].toBool(), true, false});
    return {of_x, of_weight, torch::Tensor(), torch::Tensor()};
  }
};
#endif

// Undefined images where there is no kernel.
SummedImages Summed([[maybe_unused]] torch::nn::Conv2d& convolution,
                    [[maybe_unused]] const SquareConvolution& plain) {
#ifdef INFEED_CUDA
  if (!convolution->bias.defined() && convolution->options.groups() == 1) {
    const SquareConvolution dense = {
        .x = plain.x.contiguous(kNhwc),
        .weight = plain.weight.to(plain.x.scalar_type()).contiguous(kNhwc),
        .stride = plain.stride,
        .padding = plain.padding};
    if (CudaConvolutionSums(dense)) {
      const auto found = SummedConvolution::apply(dense.x, dense.weight,
                                                  dense.stride, dense.padding);
      return {found[0], found[1]};
    }
  }
#endif
  return {};
}

}  // namespace

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
  if (HasOwnWeight(convolution, x)) {
    return Convolve(convolution, x);
  }
  const SquareConvolution on_images = OnImages(convolution, x);
  return at::conv2d(x, on_images.weight, convolution->bias, on_images.stride,
                    on_images.padding);
}

SummedImages ConvolveSummed(torch::nn::Conv2d& convolution,
                            const torch::Tensor& x) {
  const SummedImages summed =
      Summed(convolution, {.x = x,
                           .weight = convolution->weight,
                           .stride = convolution->options.stride()->at(0),
                           .padding = convolution->weight.size(2) / 2});
  return summed.x.defined() ? summed : Convolve(convolution, x);
}

SummedImages ConvolveImagesSummed(torch::nn::Conv2d& convolution,
                                  const torch::Tensor& x) {
  if (HasOwnWeight(convolution, x)) {
    return ConvolveSummed(convolution, x);
  }
  const SummedImages summed = Summed(convolution, OnImages(convolution, x));
  return summed.x.defined() ? summed : ConvolveImages(convolution, x);
}

torch::Tensor SpaceToDepth(const torch::Tensor& images) {
  return Squares(Padded(images, 4, 2));
}

}  // namespace infeed
