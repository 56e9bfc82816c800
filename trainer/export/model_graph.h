#pragma once

#include <string>
#include <vector>

#include "trainer/export/inference_graph.h"
#include "trainer/model/options.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

class GraphBuilder;
struct ResNetPlan;

// The input of a trained model: RGB values of 0 to 255, which the graph
// normalizes to (value - mean) / std in each channel.
struct GraphInput {
  int side = 224;           // pixels
  std::vector<float> mean;  // red, green, blue
  std::vector<float> std;
};

// The network of the weights, from pixels to logits, in evaluation mode: batch
// norms use their moving statistics, nothing is dropped. A LeNet uses only the
// first channel. Throws DataError when the weights are those of another model,
// UsageError for impossible options.
[[nodiscard]] InferenceGraph GraphOf(const ModelOptions& options,
                                     const TensorMap& weights,
                                     const GraphInput& input);

// Add the layers of a network after x; the last node's output is the logits.
void AddResNet(const ResNetPlan& plan, double bn_epsilon, int side,
               const std::string& x, GraphBuilder& graph);
void AddLeNet(int classes, const std::string& x, GraphBuilder& graph);

}  // namespace infeed
