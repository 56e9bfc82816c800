#include "trainer/resnet.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/modules/container/sequential.h>

#include "base/error.h"
#include "base/random.h"

namespace infeed {
namespace {

namespace nn = torch::nn;

struct Architecture {
  bool bottleneck;
  std::array<int, 4> blocks;  // in each group
};

const Architecture& ArchitectureOf(int depth) {
  static const std::map<int, Architecture> kArchitectures = {
      {18, {false, {2, 2, 2, 2}}},  {34, {false, {3, 4, 6, 3}}},
      {50, {true, {3, 4, 6, 3}}},   {101, {true, {3, 4, 23, 3}}},
      {152, {true, {3, 8, 36, 3}}},
  };
  const auto found = kArchitectures.find(depth);
  if (found == kArchitectures.end()) {
    throw UsageError("resnet_depth is " + std::to_string(depth) +
                     ": give 18, 34, 50, 101 or 152");
  }
  return found->second;
}

nn::Conv2d Convolution(std::int64_t in, std::int64_t out, int kernel,
                       int stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                        .stride(stride)
                        .padding(kernel / 2)
                        .bias(false));
}

// Normal, cut off at two standard deviations of the uncut distribution; the
// result's own standard deviation is sqrt(1 / fan_in).
void InitialiseConvolution(torch::Tensor weight, at::Generator& generator) {
  const double fan_in = static_cast<double>(weight[0].numel());
  const double uncut = std::sqrt(1 / fan_in) / 0.87962566103423978;
  // The inverse of the distribution function at uniform points between the
  // two cuts.
  const double cut = std::erf(std::sqrt(2.0));
  weight.uniform_(-cut, cut, generator)
      .erfinv_()
      .mul_(std::sqrt(2.0) * uncut)
      .clamp_(-2 * uncut, 2 * uncut);
}

// LibTorch's generator takes 32 bits of seed; Philox folds all 64 into them.
at::Generator GeneratorFor(std::uint64_t seed) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  return at::make_generator<at::CPUGeneratorImpl>(
      Philox4x32({low, high}, {0, 0, 0, 0})[0]);
}

}  // namespace

// Two 3x3 convolutions, or 1x1, 3x3, 1x1 ("bottleneck"), each with its batch
// norm, added to a shortcut: the identity, or a 1x1 convolution where the
// shape changes.
class ResidualBlock final : public nn::Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t width, int stride,
                bool bottleneck) {
    const std::int64_t out = bottleneck ? 4 * width : width;
    if (bottleneck) {
      Add(Convolution(in, width, 1, 1));
      Add(Convolution(width, width, 3, stride));
      Add(Convolution(width, out, 1, 1));
    } else {
      Add(Convolution(in, width, 3, stride));
      Add(Convolution(width, out, 3, 1));
    }
    if (stride != 1 || in != out) {
      shortcut_ = register_module(
          "downsample", nn::Sequential(Convolution(in, out, 1, stride),
                                       nn::BatchNorm2d(out)));
    }
  }

  // LibTorch's containers want this name.
  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor x = input;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      x = norms_[i]->forward(convolutions_[i]->forward(x));
      if (i + 1 < convolutions_.size()) {
        x.relu_();
      }
    }
    x += shortcut_ ? shortcut_->forward(input) : input;
    return x.relu_();
  }

  // The batch norm before the addition.
  [[nodiscard]] nn::BatchNorm2d last_norm() const { return norms_.back(); }

 private:
  void Add(const nn::Conv2d& convolution) {
    const std::string number = std::to_string(convolutions_.size() + 1);
    convolutions_.push_back(register_module("conv" + number, convolution));
    norms_.push_back(register_module(
        "bn" + number, nn::BatchNorm2d(convolution->options.out_channels())));
  }

  std::vector<nn::Conv2d> convolutions_;
  std::vector<nn::BatchNorm2d> norms_;
  nn::Sequential shortcut_{nullptr};
};

ResNet::ResNet(const ModelOptions& options) : Network(options) {
  const auto& [bottleneck, blocks] = ArchitectureOf(options.depth);
  conv_ = register_module("conv1", Convolution(3, channels_, 7, 2));
  norm_ = register_module("bn1", nn::BatchNorm2d(channels_));
  for (int group = 0; group < 4; ++group) {
    AddGroup(group, blocks[static_cast<std::size_t>(group)], group == 0 ? 1 : 2,
             bottleneck);
  }
  classifier_ =
      register_module("fc", nn::Linear(channels_, options.num_classes));
  Initialise(options.seed);
  UseChannelsLast();
}

void ResNet::AddGroup(int group, int blocks, int stride, bool bottleneck) {
  const std::int64_t width = std::int64_t{64} << group;
  nn::Sequential layer;
  for (int i = 0; i < blocks; ++i) {
    blocks_.push_back(std::make_shared<ResidualBlock>(
        channels_, width, i == 0 ? stride : 1, bottleneck));
    layer->push_back(nn::AnyModule(blocks_.back()));
    channels_ = bottleneck ? 4 * width : width;
  }
  register_module("layer" + std::to_string(group + 1), layer);
}

void ResNet::Initialise(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = GeneratorFor(seed);
  for (const auto& parameter : named_parameters()) {
    if (parameter.value().dim() == 4) {
      InitialiseConvolution(parameter.value(), generator);
    }
  }
  for (const auto& block : blocks_) {
    block->last_norm()->weight.zero_();
  }
  classifier_->weight.normal_(0, 0.01, generator);
  classifier_->bias.zero_();
}

void ResNet::UseChannelsLast() {
  for (torch::Tensor& parameter : parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

torch::Tensor ResNet::Forward(const torch::Tensor& images) {
  torch::Tensor x = norm_->forward(conv_->forward(images)).relu_();
  x = torch::max_pool2d(x, 3, 2, 1);
  for (const auto& block : blocks_) {
    x = block->forward(x);
  }
  return classifier_->forward(x.mean({2, 3}));
}

}  // namespace infeed
