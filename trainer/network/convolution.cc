#include "trainer/network/convolution.h"

#include <cstdint>

#include <ATen/ATen.h>

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
  const std::int64_t channels = x.size(1);
  // With four input channels the fourth is zero padding; its weights are
  // ignored.
  if (channels <= kImageColors && channels == convolution->weight.size(1)) {
    return Convolve(convolution, x);
  }
  const torch::Tensor weight = OfColors(convolution->weight);
  if (channels == kSquareChannels) {
    // The first of the 8 rows begins a square, the first of the 7 ends one.
    return at::conv2d(x, Squares(Padded(weight, 1, 0)), convolution->bias);
  }
  const std::int64_t more = channels - kImageColors;
  return at::conv2d(x, at::constant_pad_nd(weight, {0, 0, 0, 0, 0, more}),
                    convolution->bias, convolution->options.stride(),
                    weight.size(2) / 2);
}

torch::Tensor SpaceToDepth(const torch::Tensor& images) {
  return Squares(Padded(images, 4, 2));
}

}  // namespace infeed
