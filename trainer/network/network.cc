#include "trainer/network/network.h"

#include <cstddef>
#include <utility>

#include "base/error.h"
#include "trainer/model/layers.h"
#include "trainer/network/init.h"
#include "trainer/network/lenet.h"
#include "trainer/network/resnet.h"

namespace infeed {

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
  return std::make_shared<ResNet>(options);
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
