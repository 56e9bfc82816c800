#include "trainer/export/model_graph.h"

#include <utility>

#include "trainer/export/graph_builder.h"
#include "trainer/model/resnet_plan.h"

namespace infeed {

InferenceGraph GraphOf(const ModelOptions& options, const TensorMap& weights,
                       const GraphInput& input) {
  const bool is_lenet = options.kind == ModelKind::kLeNet;
  const std::size_t channels = is_lenet ? 1 : 3;
  GraphBuilder graph(weights, {.channels = static_cast<int>(channels),
                               .side = input.side,
                               .classes = options.num_classes});
  const auto first = [&](std::vector<float> values) {
    values.resize(channels);
    return values;
  };
  const std::string x =
      graph.Normalize(graph.Input(), first(input.mean), first(input.std));
  if (is_lenet) {
    AddLeNet(options.num_classes, x, graph);
  } else {
    AddResNet(PlanOf(options), options.bn_epsilon, input.side, x, graph);
  }
  return std::move(graph).Finish();
}

}  // namespace infeed
