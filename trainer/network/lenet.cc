#include "trainer/network/lenet.h"

#include <string>

#include <ATen/ATen.h>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kSide = 28;

}  // namespace

LeNet::LeNet(const ModelOptions& options)
    : Network(options),
      conv1_(register_module(
          "conv1",
          torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 5).padding(2)))),
      conv2_(register_module("conv2", torch::nn::Conv2d(6, 16, 5))),
      fc1_(register_module("fc1", torch::nn::Linear(16 * 5 * 5, 120))),
      fc2_(register_module("fc2", torch::nn::Linear(120, 84))),
      fc3_(register_module("fc3", torch::nn::Linear(84, options.num_classes))) {
  Finish();
}

torch::Tensor LeNet::Forward(const torch::Tensor& images) {
  if (images.size(2) != kSide || images.size(3) != kSide) {
    throw UsageError("model=lenet takes images of 28 pixels, not of " +
                     std::to_string(images.size(2)) + ": give image_size=28");
  }
  torch::Tensor x = images.narrow(1, 0, 1).contiguous();
  x = at::avg_pool2d(conv1_->forward(x).relu_(), 2);
  x = at::avg_pool2d(conv2_->forward(x).relu_(), 2);
  x = fc1_->forward(x.flatten(1)).relu_();
  return fc3_->forward(fc2_->forward(x).relu_());
}

}  // namespace infeed
