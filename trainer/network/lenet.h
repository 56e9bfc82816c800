#pragma once

#include <cstdint>

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "trainer/network/network.h"

namespace infeed {

// LeNet-5 as in the X10 tutorial: two 5x5 convolutions, the first with two
// pixels of padding, each with a ReLU and a 2x2 average pool; then linear
// layers of 120, 84 and num_classes outputs. Takes images of 28 x 28 pixels and
// uses their first channel.
class LeNet final : public Network {
 public:
  // Throws UsageError for num_classes < 1, and for frozen stages.
  explicit LeNet(const ModelOptions& options);

  // Throws UsageError for images of another size.
  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) override;
  void SetStep(std::int64_t /*step*/) override {}  // Nothing is random.

 private:
  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::Conv2d conv2_{nullptr};
  torch::nn::Linear fc1_{nullptr};
  torch::nn::Linear fc2_{nullptr};
  torch::nn::Linear fc3_{nullptr};
};

}  // namespace infeed
