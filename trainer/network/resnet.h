#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/modules/linear.h>

#include "trainer/model/resnet_plan.h"
#include "trainer/network/batch_norm.h"
#include "trainer/network/network.h"
#include "trainer/network/resnet_block.h"

namespace infeed {

// A ResNet as PlanResNet() describes it. Convolution weights are in
// channels_last order, which is fast on both CPUs and GPUs.
class ResNet final : public Network {
 public:
  // Throws as PlanResNet() does.
  explicit ResNet(const ModelOptions& options);

  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) override;
  void SetStep(std::int64_t step) override;
  [[nodiscard]] std::vector<at::Generator> Generators() const override {
    return {drops_.random.generator()};
  }

 private:
  void Build(const ModelOptions& options);
  torch::Tensor Pool(const torch::Tensor& x) const;
  void UseChannelsLast();

  ResNetPlan plan_;
  double dropout_rate_;
  ResNetDrops drops_;
  std::vector<ConvNorm> stem_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  BatchNorm final_norm_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace infeed
