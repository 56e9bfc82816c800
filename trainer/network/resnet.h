#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "trainer/model/options.h"
#include "trainer/model/resnet_plan.h"
#include "trainer/network/batch_norm.h"
#include "trainer/network/drop.h"
#include "trainer/network/network.h"
#include "trainer/network/random.h"

namespace infeed {

// The random parts of a ResNet's step.
struct ResNetDrops {
  StepRandom random;
  DropBlock drop_block;
};

// A convolution and its norm, which may be absent.
struct ConvNorm {
  torch::nn::Conv2d conv{nullptr};
  BatchNorm norm{nullptr};
};

[[nodiscard]] BatchNorm MakeNorm(std::int64_t channels,
                                 const ModelOptions& options);

// Makes the convolution and its norm and registers them in `module`, which is
// itself registered as `prefix` ("layer1.0." or ""); the norm has
// norm_channels.
[[nodiscard]] ConvNorm MakeConvNorm(const ConvPlan& plan,
                                    std::int64_t norm_channels,
                                    const ModelOptions& options,
                                    const std::string& prefix,
                                    torch::nn::Module& module);

// The input of a block: the same images twice, for its branch and for its
// shortcut.
struct BlockInput {
  torch::Tensor branch;
  torch::Tensor shortcut;
};

// A block as BlockPlan describes it.
class ResidualBlock final : public torch::nn::Module {
 public:
  ResidualBlock(const BlockPlan& plan, const ModelOptions& options);

  // Changes only the statistics of its norms; must not change x. Returns the
  // next block's input.
  [[nodiscard]] BlockInput Forward(const BlockInput& x, ResNetDrops& drops);

 private:
  BlockInput PostActivation(const BlockInput& x, ResNetDrops& drops);
  torch::Tensor PreActivation(const torch::Tensor& x, ResNetDrops& drops);
  // Whether there is an operation between the last norm of a branch and the
  // block's sum.
  [[nodiscard]] bool HasMoreThanSum() const;
  torch::Tensor Shortcut(const torch::Tensor& x, ResNetDrops& drops);
  // The shortcut before its norm.
  torch::Tensor Project(const torch::Tensor& x);
  torch::Tensor SqueezeAndExcite(const torch::Tensor& x);
  torch::Tensor AttendToChannels(const torch::Tensor& x);
  torch::Tensor MaybeDropBlock(const torch::Tensor& x, ResNetDrops& drops);

  BlockPlan plan_;
  bool pre_activation_;
  std::vector<ConvNorm> convs_;
  std::optional<ConvNorm> shortcut_;
  std::vector<ConvNorm> squeeze_;  // none or two
  torch::nn::Conv1d attention_{nullptr};
};

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
