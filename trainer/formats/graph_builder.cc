#include "trainer/formats/graph_builder.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "trainer/model/options.h"

namespace infeed {

GraphBuilder::GraphBuilder(const TensorMap& state, InferenceGraph graph)
    : state_(state), graph_(std::move(graph)) {}

std::string GraphBuilder::Normalize(const std::string& x,
                                    const std::vector<float>& mean,
                                    const std::vector<float>& std) {
  std::string centred = x;
  if (std::ranges::any_of(mean, [](float value) { return value != 0; })) {
    centred = AddNode({.op = GraphOp::kSubtract,
                       .inputs = {x, AddConstant("normalization.mean", mean)},
                       .output = x + ".centred"});
  }
  return AddNode({.op = GraphOp::kDivide,
                  .inputs = {centred, AddConstant("normalization.std", std)},
                  .output = x + ".normalized"});
}

std::string GraphBuilder::Convolution(const std::string& x,
                                      const std::string& layer, std::int64_t in,
                                      std::int64_t out,
                                      const GraphWindow& window, int groups,
                                      bool bias) {
  GraphNode node{.op = GraphOp::kConvolution,
                 .inputs = {x, AddWeight(layer + ".weight",
                                         {out, in / groups, window.kernel,
                                          window.kernel})},
                 .output = layer,
                 .window = window,
                 .groups = groups};
  if (bias) {
    node.inputs.push_back(AddWeight(layer + ".bias", {out}));
  }
  return AddNode(std::move(node));
}

std::string GraphBuilder::ChannelConvolution(const std::string& x,
                                             const std::string& layer,
                                             int taps) {
  const std::string weight = AddWeight(layer + ".weight", {1, 1, taps});
  graph_.weights[weight].shape.push_back(1);
  return AddNode(
      {.op = GraphOp::kChannelConvolution,
       .inputs = {x, weight},
       .output = layer,
       .window = {
           .kernel = taps, .pad_before = taps / 2, .pad_after = taps / 2}});
}

std::string GraphBuilder::BatchNorm(const std::string& x,
                                    const std::string& layer,
                                    std::int64_t channels) {
  return AddNode({.op = GraphOp::kBatchNorm,
                  .inputs = {x, AddWeight(layer + ".weight", {channels}),
                             AddWeight(layer + ".bias", {channels}),
                             AddWeight(layer + ".running_mean", {channels}),
                             AddWeight(layer + ".running_var", {channels})},
                  .output = layer,
                  .epsilon = static_cast<float>(kBatchNormEpsilon)});
}

std::string GraphBuilder::Linear(const std::string& x, const std::string& layer,
                                 std::int64_t in, std::int64_t out) {
  return AddNode({.op = GraphOp::kLinear,
                  .inputs = {x, AddWeight(layer + ".weight", {out, in}),
                             AddWeight(layer + ".bias", {out})},
                  .output = layer});
}

// BlurPool as two averages of 2x2 pixels, which together have its weights.
std::string GraphBuilder::Blur(const std::string& x) {
  const std::string padded = AddAfter(x, GraphOp::kReflectPad, ".padded",
                                      {.pad_before = 1, .pad_after = 1});
  return AveragePool(AveragePool(padded, {.kernel = 2}),
                     {.kernel = 2, .stride = 2});
}

InferenceGraph GraphBuilder::Finish() && {
  Check(!graph_.nodes.empty(), "a graph has nodes");
  graph_.nodes.back().output = graph_.output;
  return std::move(graph_);
}

std::string GraphBuilder::AddAfter(const std::string& x, GraphOp op,
                                   const char* suffix,
                                   const GraphWindow& window) {
  return AddNode(
      {.op = op, .inputs = {x}, .output = x + suffix, .window = window});
}

std::string GraphBuilder::AddNode(GraphNode node) {
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().output;
}

// [C, 1, 1]: with four dimensions, OpenCV's dnn module takes the first for the
// batch's.
std::string GraphBuilder::AddConstant(const std::string& name,
                                      const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  graph_.weights[name] = {
      .type = DataType::kFloat32,
      .shape = {static_cast<std::int64_t>(values.size()), 1, 1},
      .bytes = {bytes.begin(), bytes.end()}};
  return name;
}

std::string GraphBuilder::AddWeight(const std::string& name,
                                    std::initializer_list<std::int64_t> shape) {
  const auto found = state_.find(name);
  if (found == state_.end()) {
    throw DataError("the weights have no tensor " + name);
  }
  const HostTensor& tensor = found->second;
  if (tensor.type != DataType::kFloat32 || tensor.shape != std::vector(shape)) {
    throw DataError(fmt::format(
        "the tensor {} is not float32 of [{}]: its "
        "shape is [{}]",
        name, fmt::join(shape, ", "), fmt::join(tensor.shape, ", ")));
  }
  graph_.weights[name] = tensor;
  return name;
}

}  // namespace infeed
