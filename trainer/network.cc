#include "trainer/network.h"

#include "base/error.h"
#include "trainer/model_layers.h"
#include "trainer/resnet.h"

namespace infeed {

Network::Network(const ModelOptions& options) {
  for (const LayerPlan& layer : LayersOf(options)) {
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

std::shared_ptr<Network> MakeNetwork(const ModelOptions& options) {
  return std::make_shared<ResNet>(options);
}

}  // namespace infeed
