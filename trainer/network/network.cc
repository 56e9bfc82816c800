#include "trainer/network/network.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include <ATen/ATen.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "base/error.h"
#include "base/random.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/network/drop.h"
#include "trainer/network/pool.h"
#include "trainer/network/resnet.h"

namespace infeed {
namespace {

using Initialiser = std::function<void(torch::Tensor&, at::Generator&)>;

void TruncatedNormal(torch::Tensor& weight, at::Generator& generator) {
  const double fan_in = static_cast<double>(weight[0].numel());
  const double uncut = std::sqrt(1 / fan_in) / 0.87962566103423978;
  // The inverse distribution function at uniform points between the two cuts.
  const double cut = std::erf(std::sqrt(2.0));
  weight.uniform_(-cut, cut, generator)
      .erfinv_()
      .mul_(std::sqrt(2.0) * uncut)
      .clamp_(-2 * uncut, 2 * uncut);
}

void Reference(torch::Tensor& weight, at::Generator& generator) {
  if (weight.dim() > 2) {
    TruncatedNormal(weight, generator);
  } else {
    weight.normal_(0, 0.01, generator);
  }
}

void Glorot(torch::Tensor& weight, at::Generator& generator) {
  const std::int64_t fan_in = weight[0].numel();
  const std::int64_t fan_out = weight.select(1, 0).numel();
  const double limit = std::sqrt(6 / static_cast<double>(fan_in + fan_out));
  weight.uniform_(-limit, limit, generator);
}

void Flux(torch::Tensor& weight, at::Generator& generator) {
  std::int64_t sum = 0;
  for (const std::int64_t dimension : weight.sizes()) {
    sum += dimension;
  }
  const double limit = std::sqrt(6 / static_cast<double>(sum));
  weight.uniform_(-limit, limit, generator);
}

Initialiser InitialiserOf(const ModelOptions& options) {
  if (options.kind == ModelKind::kLeNet) {
    return Glorot;
  }
  return options.variant == ModelVariant::kXlaJl ? Flux : Reference;
}

// Philox hashes the whole seed into the 32 bits that the CPU's generator takes.
at::Generator GeneratorFor(std::uint64_t seed) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  return MakeGenerator(torch::kCPU, Philox4x32({low, high}, {0, 0, 0, 0})[0]);
}

// LeNet-5 as in the X10 tutorial: two 5x5 convolutions, the first with two
// pixels of padding, each with a ReLU and a 2x2 average pool; then linear
// layers of 120, 84 and num_classes outputs. Takes images of 28 x 28 pixels and
// uses their first channel.
class LeNet final : public Network {
 public:
  // Throws UsageError for num_classes < 1, and for frozen stages.
  explicit LeNet(const ModelOptions& options)
      : Network(options),
        conv1_(register_module(
            "conv1",
            torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2_(register_module("conv2", torch::nn::Conv2d(6, 16, 5))),
        fc1_(register_module("fc1", torch::nn::Linear(16 * 5 * 5, 120))),
        fc2_(register_module("fc2", torch::nn::Linear(120, 84))),
        fc3_(register_module("fc3",
                             torch::nn::Linear(84, options.num_classes))) {
    Finish();
  }

  // Throws UsageError for images of another size.
  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) override {
    if (images.size(2) != 28 || images.size(3) != 28) {
      throw UsageError("model=lenet takes images of 28 pixels, not of " +
                       SizeText(ImageSize(static_cast<int>(images.size(2)),
                                          static_cast<int>(images.size(3)))) +
                       ": give image_size=28");
    }
    torch::Tensor x = images.narrow(1, 0, 1).contiguous();
    x = PooledRelu(conv1_->forward(x));
    x = PooledRelu(conv2_->forward(x));
    x = fc1_->forward(x.flatten(1)).relu_();
    return fc3_->forward(fc2_->forward(x).relu_());
  }

  void SetStep(std::int64_t /*step*/) override {}  // Nothing is random.

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::Conv2d conv2_;
  torch::nn::Linear fc1_;
  torch::nn::Linear fc2_;
  torch::nn::Linear fc3_;
};

}  // namespace

void InitialiseWeights(const ModelOptions& options,
                       torch::nn::Module& network) {
  const torch::NoGradGuard no_grad;
  const Initialiser initialise = InitialiserOf(options);
  at::Generator generator = GeneratorFor(options.seed);
  for (auto& parameter : network.named_parameters()) {
    if (parameter.value().dim() > 1) {
      initialise(parameter.value(), generator);
    } else if (parameter.key().ends_with("bias")) {
      parameter.value().zero_();
    }
  }
}

Network::Network(const ModelOptions& options)
    : options_(options), layers_(PlanLayers(options)) {
  for (const LayerPlan& layer : layers_) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      if (!tensor.buffer) {
        kinds_.emplace(tensor.name, tensor.kind);
      }
    }
  }
}

ParameterKind Network::KindOf(const std::string& parameter) const {
  const auto found = kinds_.find(parameter);
  Check(found != kinds_.end(), "the network has the parameter");
  return found->second;
}

bool Network::IsOfClassifier(const std::string& parameter) const {
  return parameter.starts_with(layers_.back().name + ".");
}

void Network::Finish() {
  InitialiseWeights(options_, *this);
  for (const LayerPlan& layer : layers_) {
    if (layer.stage < options_.frozen_stages) {
      for (std::size_t dot = layer.name.find('.'); dot != std::string::npos;
           dot = layer.name.find('.', dot + 1)) {
        still_.insert(layer.name.substr(0, dot));
      }
      still_.insert(layer.name);
      for (const TensorPlan& tensor : TensorsOf(layer)) {
        if (!tensor.buffer) {
          named_parameters()[tensor.name].set_requires_grad(false);
        }
      }
    } else if (layer.kind == LayerKind::kNorm && options_.freeze_batch_norm) {
      still_.insert(layer.name);
    }
  }
  train();
}

void Network::train(bool on) {
  Module::train(on);
  for (const auto& module : named_modules("", /*include_self=*/false)) {
    if (on && still_.contains(module.key())) {
      module.value()->eval();
    }
  }
}

std::shared_ptr<Network> MakeNetwork(const ModelOptions& options) {
  if (options.kind == ModelKind::kLeNet) {
    return std::make_shared<LeNet>(options);
  }
  return MakeResNet(options);
}

void RegisterAt(torch::nn::Module& root, const std::string& path,
                std::shared_ptr<torch::nn::Module> module) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) {
    root.register_module(path, std::move(module));
    return;
  }
  const std::string name = path.substr(0, dot);
  const auto children = root.named_children();
  const auto* child = children.find(name);
  RegisterAt(child != nullptr
                 ? **child
                 : *root.register_module(
                       name, std::make_shared<torch::nn::Module>(name)),
             path.substr(dot + 1), std::move(module));
}

}  // namespace infeed
