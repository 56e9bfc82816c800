#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/formats/inference_graph.h"

namespace infeed {

// Builds an InferenceGraph, node by node. Each method adds a node and returns
// the name of its output, an input for later nodes.
//
// Copies the weights of each node from the state of a trained model, where a
// layer NAME has NAME.weight, NAME.bias, NAME.running_mean and
// NAME.running_var. One thread at a time. Throws DataError naming a tensor that
// the state lacks, that is not float32 or whose shape is not the layer's.
class GraphBuilder {
 public:
  // state must outlive the builder.
  GraphBuilder(const TensorMap& state, InferenceGraph graph);

  // The graph's input.
  [[nodiscard]] std::string Input() const { return graph_.input; }

  // (x - mean) / std, with a mean and a std for each channel.
  std::string Normalize(const std::string& x, const std::vector<float>& mean,
                        const std::vector<float>& std);
  std::string Convolution(const std::string& x, const std::string& layer,
                          std::int64_t in, std::int64_t out,
                          const GraphWindow& window, int groups, bool bias);
  // Along the channels of x [N, C, 1, 1].
  std::string ChannelConvolution(const std::string& x, const std::string& layer,
                                 int taps);
  std::string BatchNorm(const std::string& x, const std::string& layer,
                        std::int64_t channels);
  std::string Linear(const std::string& x, const std::string& layer,
                     std::int64_t in, std::int64_t out);
  // The new node is named after x and the operation.
  std::string Relu(const std::string& x) {
    return AddAfter(x, GraphOp::kRelu, ".relu");
  }
  std::string Sigmoid(const std::string& x) {
    return AddAfter(x, GraphOp::kSigmoid, ".sigmoid");
  }
  std::string MaxPool(const std::string& x, const GraphWindow& window) {
    return AddAfter(x, GraphOp::kMaxPool, ".maxpool", window);
  }
  std::string AveragePool(const std::string& x, const GraphWindow& window) {
    return AddAfter(x, GraphOp::kAveragePool, ".avgpool", window);
  }
  // BlurPool: the binomial weights of 3x3 pixels, with stride 2.
  std::string Blur(const std::string& x);
  std::string GlobalAveragePool(const std::string& x) {
    return AddAfter(x, GraphOp::kGlobalAveragePool, ".mean");
  }
  std::string Flatten(const std::string& x) {
    return AddAfter(x, GraphOp::kFlatten, ".flat");
  }
  std::string Add(const std::string& x, const std::string& y,
                  const std::string& name) {
    return AddNode({.op = GraphOp::kAdd, .inputs = {x, y}, .output = name});
  }
  std::string ScaleChannels(const std::string& x, const std::string& y,
                            const std::string& name) {
    return AddNode(
        {.op = GraphOp::kScaleChannels, .inputs = {x, y}, .output = name});
  }

  // Returns the graph; its last node is the output. Requires: there is a node.
  [[nodiscard]] InferenceGraph Finish() &&;

 private:
  std::string AddAfter(const std::string& x, GraphOp op, const char* suffix,
                       const GraphWindow& window = {});
  std::string AddNode(GraphNode node);
  std::string AddConstant(const std::string& name,
                          const std::vector<float>& values);
  std::string AddWeight(const std::string& name,
                        std::initializer_list<std::int64_t> shape);

  const TensorMap& state_;
  InferenceGraph graph_;
};

}  // namespace infeed
