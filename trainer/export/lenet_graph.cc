#include <string>
#include <vector>

#include "trainer/export/graph_builder.h"
#include "trainer/export/model_graph.h"
#include "trainer/model/layer_plan.h"
#include "trainer/model/layers.h"

namespace infeed {

void AddLeNet(int classes, const std::string& input, GraphBuilder& graph) {
  constexpr GraphWindow kPool = {.kernel = 2, .stride = 2};
  std::string x = input;
  for (const LayerPlan& layer : LeNetLayers(classes)) {
    const bool is_convolution = layer.kind == LayerKind::kConvolution;
    if (!is_convolution && layer.name == "fc1") {
      x = graph.Flatten(x);
    }
    // The first convolution keeps the image's size.
    const int padding = layer.name == "conv1" ? layer.kernel / 2 : 0;
    x = is_convolution ? graph.Convolution(x, layer.name, layer.in, layer.out,
                                           {.kernel = layer.kernel,
                                            .pad_before = padding,
                                            .pad_after = padding},
                                           layer.bias)
                       : graph.Linear(x, layer.name, layer.in, layer.out);
    if (layer.name != "fc3") {
      x = graph.Relu(x);
    }
    if (is_convolution) {
      x = graph.AveragePool(x, kPool);
    }
  }
}

}  // namespace infeed
