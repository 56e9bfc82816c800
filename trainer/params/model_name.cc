#include "trainer/params/model_name.h"

namespace infeed {

ModelKind ModelKindOf(const TrainParams& params) {
  return params.model == "lenet" ? ModelKind::kLeNet : ModelKind::kResNet;
}

std::string ModelName(const TrainParams& params) {
  return ModelKindOf(params) == ModelKind::kLeNet
             ? "LeNet-5"
             : "ResNet-" + std::to_string(params.resnet_depth);
}

}  // namespace infeed
