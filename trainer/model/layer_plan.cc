#include "trainer/model/layer_plan.h"

#include <functional>
#include <numeric>
#include <utility>

namespace infeed {
namespace {

std::vector<TensorPlan> TensorsOfNorm(const LayerPlan& norm) {
  const auto parameter = [&](const char* name) {
    return TensorPlan{.name = norm.name + name,
                      .shape = {norm.out},
                      .kind = ParameterKind::kNorm};
  };
  const auto buffer = [&](const char* name, std::vector<std::int64_t> shape) {
    return TensorPlan{.name = norm.name + name,
                      .shape = std::move(shape),
                      .kind = ParameterKind::kNorm,
                      .buffer = true};
  };
  return {parameter(".weight"), parameter(".bias"),
          buffer(".running_mean", {norm.out}),
          buffer(".running_var", {norm.out}),
          buffer(".num_batches_tracked", {})};
}

}  // namespace

std::vector<TensorPlan> TensorsOf(const LayerPlan& layer) {
  if (layer.kind == LayerKind::kNorm) {
    return TensorsOfNorm(layer);
  }
  std::vector<std::int64_t> shape = {layer.out, layer.in};
  if (layer.kind == LayerKind::kConvolution) {
    shape.insert(shape.end(), 2, layer.kernel);
  }
  std::vector<TensorPlan> tensors = {
      {.name = layer.name + ".weight", .shape = std::move(shape)}};
  if (layer.bias) {
    tensors.push_back({.name = layer.name + ".bias",
                       .shape = {layer.out},
                       .kind = ParameterKind::kBias});
  }
  return tensors;
}

std::int64_t CountElements(const TensorPlan& tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                         std::int64_t{1}, std::multiplies<>());
}

}  // namespace infeed
