#include "trainer/network/resnet.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "trainer/model/resnet_plan.h"
#include "trainer/network/convolution.h"
#include "trainer/network/drop.h"
#include "trainer/network/pool.h"

namespace infeed {
namespace {

namespace nn = torch::nn;

nn::Conv2d MakeConvolution(const ConvPlan& plan) {
  return nn::Conv2d(nn::Conv2dOptions(plan.in, plan.out, plan.kernel)
                        .stride(plan.stride)
                        .padding(plan.kernel / 2)
                        .groups(plan.groups)
                        .bias(plan.bias));
}

// The random parts of a ResNet's step.
struct ResNetDrops {
  StepRandom random;
  DropBlock drop_block;
};

// A convolution and its norm, which may be absent.
struct ConvNorm {
  torch::nn::Conv2d conv{nullptr};
  BatchNorm norm{nullptr};
  bool sums = false;  // the convolution, for the norm after it

  // The convolution's result, for the norm.
  [[nodiscard]] SummedImages Convolved(const torch::Tensor& x,
                                       bool are_images = false) {
    if (sums && norm && norm->IsFused(x)) {
      return are_images ? ConvolveImagesSummed(conv, x)
                        : ConvolveSummed(conv, x);
    }
    return are_images ? ConvolveImages(conv, x) : Convolve(conv, x);
  }
};

// Makes the convolution and its norm and registers them in `module`, which is
// itself registered as `prefix` ("layer1.0." or ""); the norm has
// norm_channels.
ConvNorm MakeConvNorm(const ConvPlan& plan, std::int64_t norm_channels,
                      const ModelOptions& options, const std::string& prefix,
                      nn::Module& module) {
  ConvNorm layers{.conv = MakeConvolution(plan),
                  .sums = !options.pre_activation &&
                          options.conv_statistics != ConvStatistics::kPass};
  RegisterAt(module, plan.name.substr(prefix.size()), layers.conv.ptr());
  if (!plan.norm.empty()) {
    layers.norm = MakeNorm(norm_channels, options);
    RegisterAt(module, plan.norm.substr(prefix.size()), layers.norm.ptr());
    if (plan.zero_scale) {
      const torch::NoGradGuard no_grad;
      layers.norm->weight.zero_();
    }
  }
  return layers;
}

// The input of a block: the same images twice, for its branch and for its
// shortcut.
struct BlockInput {
  torch::Tensor branch;
  torch::Tensor shortcut;
};

// A block as BlockPlan describes it.
class ResidualBlock final : public torch::nn::Module {
 public:
  ResidualBlock(const BlockPlan& plan, const ModelOptions& options)
      : plan_(plan),
        pre_activation_(options.pre_activation),
        hands_norms_on_(options.conv_statistics == ConvStatistics::kFused) {
    const auto make = [&](const ConvPlan& conv, std::int64_t norm_channels) {
      return MakeConvNorm(conv, norm_channels, options, plan.name + ".", *this);
    };
    for (const ConvPlan& conv : plan.convs) {
      convs_.push_back(make(conv, pre_activation_ ? conv.in : conv.out));
    }
    if (plan.se_channels > 0) {
      for (const ConvPlan& conv : PlanSqueezeExcitation(plan)) {
        squeeze_.push_back(make(conv, conv.out));
      }
    }
    if (plan.eca_taps > 0) {
      attention_ = nn::Conv1d(nn::Conv1dOptions(1, 1, plan.eca_taps)
                                  .padding(plan.eca_taps / 2)
                                  .bias(false));
      RegisterAt(*this, ChannelAttentionName(plan).substr(plan.name.size() + 1),
                 attention_.ptr());
    }
    if (plan.shortcut) {
      shortcut_ = make(*plan.shortcut, plan.shortcut->out);
    }
  }

  // Changes only the statistics of its norms; must not change x. Returns the
  // next block's input.
  [[nodiscard]] BlockInput Forward(const BlockInput& x, ResNetDrops& drops) {
    if (pre_activation_) {
      const torch::Tensor y = PreActivation(x.branch, drops);
      return {y, y};
    }
    return PostActivation(x, drops);
  }

 private:
  BlockInput PostActivation(const BlockInput& x, ResNetDrops& drops) {
    SummedImages result = convs_.front().Convolved(x.branch);
    for (std::size_t i = 1; i < convs_.size(); ++i) {
      result = NormedAndConvolved(result, i, drops);
    }
    ConvNorm& last = convs_.back();
    if (!HasMoreThanSum()) {
      BatchNormImpl* const norm =
          shortcut_ && shortcut_->norm ? shortcut_->norm.get() : nullptr;
      const auto [branch, shortcut] =
          last.norm->ForwardReluForked(result, Project(x.shortcut), norm);
      return {branch, shortcut};
    }
    torch::Tensor y = MaybeDropBlock(last.norm->forward(result), drops);
    if (!squeeze_.empty()) {
      y = SqueezeAndExcite(y);
    } else if (attention_) {
      y = AttendToChannels(y);
    }
    if (is_training() && plan_.drop_connect_rate > 0) {
      y = DropConnect(y, plan_.drop_connect_rate, drops.random);
    }
    y += Shortcut(x.shortcut, drops);
    y.relu_();
    return {y, y};
  }

  // The convolution of that number after the norm and the ReLU of the one
  // before, of which x is the result.
  SummedImages NormedAndConvolved(const SummedImages& x, std::size_t number,
                                  ResNetDrops& drops) {
    BatchNorm& norm = convs_[number - 1].norm;
    const bool is_blurred = plan_.convs[number - 1].blur_stride > 1;
    if (hands_norms_on_ && norm->IsFused(x.x) && !is_blurred &&
        !HasDropBlock()) {
      return norm->ForwardReluConvolved(x, convs_[number].conv);
    }
    const torch::Tensor y = MaybeDropBlock(norm->ForwardRelu(x), drops);
    return convs_[number].Convolved(is_blurred ? Blurred(y) : y);
  }

  torch::Tensor PreActivation(const torch::Tensor& x, ResNetDrops& drops) {
    torch::Tensor y = convs_[0].norm->ForwardRelu(x);
    const torch::Tensor shortcut = Shortcut(shortcut_ ? y : x, drops);
    y = Convolve(convs_[0].conv, y);
    for (std::size_t i = 1; i < convs_.size(); ++i) {
      y = MaybeDropBlock(convs_[i].norm->ForwardRelu(y), drops);
      y = Convolve(convs_[i].conv, y);
    }
    return y += shortcut;
  }

  // Whether there is an operation between the last norm of a branch and the
  // block's sum.
  [[nodiscard]] bool HasMoreThanSum() const {
    return !squeeze_.empty() || attention_ || HasDropBlock() ||
           (is_training() && plan_.drop_connect_rate > 0);
  }

  torch::Tensor Shortcut(const torch::Tensor& x, ResNetDrops& drops) {
    const SummedImages y = Project(x);
    return MaybeDropBlock(
        shortcut_ && shortcut_->norm ? shortcut_->norm->forward(y) : y.x,
        drops);
  }

  // The shortcut before its norm.
  SummedImages Project(const torch::Tensor& x) {
    torch::Tensor y = x;
    if (plan_.average_shortcut) {
      y = at::avg_pool2d(y, 2, 2, 0, /*ceil_mode=*/true,
                         /*count_include_pad=*/false);
    }
    return shortcut_ ? shortcut_->Convolved(y) : y;
  }

  torch::Tensor SqueezeAndExcite(const torch::Tensor& x) {
    const torch::Tensor mean = x.mean({2, 3}, /*keepdim=*/true);
    return x * squeeze_[1]
                   .conv->forward(squeeze_[0].conv->forward(mean).relu_())
                   .sigmoid_();
  }

  torch::Tensor AttendToChannels(const torch::Tensor& x) {
    const torch::Tensor means = x.mean({2, 3}).unsqueeze(1);  // [N, 1, C]
    return x * attention_->forward(means).sigmoid_().reshape(
                   {x.size(0), x.size(1), 1, 1});
  }

  [[nodiscard]] bool HasDropBlock() const {
    return is_training() && plan_.drop_block;
  }
  torch::Tensor MaybeDropBlock(const torch::Tensor& x, ResNetDrops& drops) {
    return HasDropBlock() ? drops.drop_block.Apply(x, plan_.group, drops.random)
                          : x;
  }

  BlockPlan plan_;
  bool pre_activation_;
  bool hands_norms_on_;  // to the convolutions after them
  std::vector<ConvNorm> convs_;
  std::optional<ConvNorm> shortcut_;
  std::vector<ConvNorm> squeeze_;  // none or two
  torch::nn::Conv1d attention_{nullptr};
};

class ResNet final : public Network {
 public:
  explicit ResNet(const ModelOptions& options)
      : Network(options),
        plan_(PlanResNet(options)),
        own_kernels_(options.fused_batch_norm.value_or(true)),
        stem_layout_(options.stem_layout),
        dropout_rate_(options.dropout_rate),
        drops_{.random = StepRandom(options.seed, options.rank),
               .drop_block = DropBlock(options.drop_block)} {
    Build(options);
    Finish();
    UseChannelsLast();
  }

  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) override {
    torch::Tensor x = Stem(images);
    BlockInput input = {x, x};
    for (const auto& block : blocks_) {
      input = block->Forward(input, drops_);
    }
    x = input.branch;
    if (final_norm_) {
      x = final_norm_->ForwardRelu(x);
    }
    // In this order of dimensions the gradient is in channels_last order.
    x = x.permute({0, 2, 3, 1}).mean({1, 2});
    if (is_training() && dropout_rate_ > 0) {
      x = Dropout(x, dropout_rate_, drops_.random);
    }
    return classifier_->forward(x);
  }

  [[nodiscard]] bool uses_space_to_depth() const override {
    return stem_layout_ == StemLayout::kSpaceToDepth &&
           plan_.stem.front().kernel == 7;
  }

  void SetStep(std::int64_t step) override {
    const torch::Device device = classifier_->weight.device();
    drops_.random.SetStep(step, device);
    drops_.drop_block.SetStep(step, device);
  }

  [[nodiscard]] std::vector<at::Generator> Generators() const override {
    return {drops_.random.generator()};
  }

 private:
  void Build(const ModelOptions& options) {
    for (const ConvPlan& conv : plan_.stem) {
      stem_.push_back(MakeConvNorm(conv, conv.out, options, "", *this));
    }
    for (const BlockPlan& block : plan_.blocks) {
      blocks_.push_back(std::make_shared<ResidualBlock>(block, options));
      RegisterAt(*this, block.name, blocks_.back());
    }
    if (!plan_.final_norm.empty()) {
      final_norm_ =
          register_module(plan_.final_norm, MakeNorm(plan_.features, options));
    }
    classifier_ = register_module(
        plan_.classifier, torch::nn::Linear(plan_.features, plan_.classes));
  }

  // The stem with its pool, which its last norm takes along where it can.
  torch::Tensor Stem(const torch::Tensor& images) {
    torch::Tensor x = IsToDepth(images) ? SpaceToDepth(images) : images;
    for (ConvNorm& layers : stem_) {
      const SummedImages y =
          layers.Convolved(x, /*are_images=*/&layers == &stem_.front());
      if (layers.norm && &layers == &stem_.back() && HasPlainMaxPool()) {
        return layers.norm->ForwardReluPooled(y, Pooling());
      }
      x = layers.norm ? layers.norm->ForwardRelu(y) : y.x;
    }
    return Pool(x);
  }

  // Whether to rearrange them: not those that are so already, nor gray ones.
  [[nodiscard]] bool IsToDepth(const torch::Tensor& images) const {
    const std::int64_t channels = images.size(1);
    return uses_space_to_depth() && (channels == 3 || channels == 4) &&
           images.size(2) % 2 == 0 && images.size(3) % 2 == 0;
  }

  [[nodiscard]] bool HasPlainMaxPool() const {
    return plan_.pool == StemPool::kMax || plan_.pool == StemPool::kMaxSame;
  }

  [[nodiscard]] MaxPooling Pooling() const {
    return {.same = plan_.pool == StemPool::kMaxSame,
            .own_kernels = own_kernels_};
  }

  torch::Tensor Pool(const torch::Tensor& x) const {
    if (HasPlainMaxPool()) {
      return MaxPooled(x, Pooling());
    }
    if (plan_.pool == StemPool::kMaxBlur) {
      return Blurred(at::max_pool2d(x, 3, 1, 1));
    }
    return x;
  }

  void UseChannelsLast() {
    for (torch::Tensor& parameter : parameters()) {
      if (parameter.dim() == 4) {
        parameter.set_data(
            parameter.contiguous(at::MemoryFormat::ChannelsLast));
      }
    }
  }

  ResNetPlan plan_;
  bool own_kernels_;  // of the max pool
  StemLayout stem_layout_;
  double dropout_rate_;
  ResNetDrops drops_;
  std::vector<ConvNorm> stem_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  BatchNorm final_norm_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace

std::shared_ptr<Network> MakeResNet(const ModelOptions& options) {
  return std::make_shared<ResNet>(options);
}

BatchNorm MakeNorm(std::int64_t channels, const ModelOptions& options) {
  BatchNorm norm(BatchNormOptions{.channels = channels,
                                  .momentum = 1 - options.bn_momentum});
  norm->set_fused(options.fused_batch_norm);
  return norm;
}

}  // namespace infeed
