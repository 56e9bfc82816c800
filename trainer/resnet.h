#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "trainer/network.h"

namespace infeed {

class ResidualBlock;

// A ResNet v1.5 (stride on the 3x3) with torchvision's geometry and parameter
// names: conv1, bn1, layer1.0.conv1, layer1.0.downsample.0, fc. Its weights
// start as the reference's do: convolutions truncated normal by fan-in, the
// scale of each block's last batch norm 0, the classifier normal with 0.01;
// all a function of the seed. Convolution weights lie in channels_last order,
// which is the fast one for CPUs and GPUs alike.
//
// Starts on the CPU, in training mode. One thread at a time. The constructor
// throws UsageError for a depth or a number of classes that cannot be.
class ResNet final : public Network {
 public:
  explicit ResNet(const ModelOptions& options);

  // Takes normalised images [N, 3, H, W] and returns logits [N, classes].
  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) override;
  void SetStep(std::int64_t /*step*/) override {}

 private:
  void AddGroup(int group, int blocks, int stride, bool bottleneck);
  void Initialise(std::uint64_t seed);
  void UseChannelsLast();

  std::int64_t channels_ = 64;  // between the blocks, while building
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::BatchNorm2d norm_{nullptr};
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace infeed
