#include "trainer/network/resnet.h"

#include <ATen/ATen.h>

#include "trainer/network/blur.h"
#include "trainer/network/convolution.h"

namespace infeed {

ResNet::ResNet(const ModelOptions& options)
    : Network(options),
      plan_(PlanResNet(options)),
      dropout_rate_(options.dropout_rate),
      drops_{.random = StepRandom(options.seed, options.rank),
             .drop_block = DropBlock(options.drop_block)} {
  Build(options);
  Finish();
  UseChannelsLast();
}

void ResNet::Build(const ModelOptions& options) {
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

void ResNet::UseChannelsLast() {
  for (torch::Tensor& parameter : parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

void ResNet::SetStep(std::int64_t step) {
  const torch::Device device = classifier_->weight.device();
  drops_.random.SetStep(step, device);
  drops_.drop_block.SetStep(step, device);
}

torch::Tensor ResNet::Forward(const torch::Tensor& images) {
  torch::Tensor x = images;
  for (ConvNorm& layers : stem_) {
    x = &layers == &stem_.front() ? ConvolveImages(layers.conv, x)
                                  : Convolve(layers.conv, x);
    if (layers.norm) {
      x = layers.norm->ForwardRelu(x);
    }
  }
  x = Pool(x);
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

torch::Tensor ResNet::Pool(const torch::Tensor& x) const {
  if (plan_.pool == StemPool::kMax) {
    return at::max_pool2d(x, 3, 2, 1);
  }
  if (plan_.pool == StemPool::kMaxBlur) {
    return Blurred(at::max_pool2d(x, 3, 1, 1));
  }
  if (plan_.pool == StemPool::kMaxSame) {
    // With ceil_mode a window may reach beyond the last row and column.
    return at::max_pool2d(x, 3, 2, {x.size(2) % 2, x.size(3) % 2}, 1,
                          /*ceil_mode=*/true);
  }
  return x;
}

}  // namespace infeed
