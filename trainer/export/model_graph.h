#pragma once

#include <string>
#include <vector>

#include "trainer/export/inference_graph.h"
#include "trainer/model/options.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

class GraphBuilder;
struct ResNetPlan;

// What a trained model's input is made of: RGB values of 0 to 255, of which
// the graph takes the mean, and which it divides by std, a channel each.
struct GraphInput {
  int side = 224;           // pixels
  std::vector<float> mean;  // red, green, blue
  std::vector<float> std;
};

// The network that the weights belong to, from pixels to logits, as it
// evaluates: batch norms use their moving statistics, nothing is dropped. A
// LeNet takes one channel, the first. Throws DataError when the weights are of
// another model, UsageError for options that cannot be.
[[nodiscard]] InferenceGraph GraphOf(const ModelOptions& options,
                                     const TensorMap& weights,
                                     const GraphInput& input);

// Add the layers of a network after x; the last node gives the logits.
void AddResNet(const ResNetPlan& plan, double bn_epsilon, int side,
               const std::string& x, GraphBuilder& graph);
void AddLeNet(int classes, const std::string& x, GraphBuilder& graph);

}  // namespace infeed
