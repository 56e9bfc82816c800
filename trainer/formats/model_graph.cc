#include "trainer/formats/model_graph.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/rounding.h"
#include "trainer/model/layers.h"
#include "trainer/model/normalization.h"
#include "trainer/model/resnet_plan.h"

namespace infeed {
namespace {

// Builds an InferenceGraph, node by node. Each method adds a node and returns
// the name of its output, an input for later nodes.
//
// Copies the weights of each node from the state of a trained model, where a
// layer NAME has NAME.weight, NAME.bias, NAME.running_mean and
// NAME.running_var. Throws DataError naming a tensor that the state lacks, that
// is not float32 or whose shape is not the layer's.
class GraphBuilder {
 public:
  // state must outlive the builder.
  GraphBuilder(const TensorMap& state, InferenceGraph graph)
      : state_(state), graph_(std::move(graph)) {}

  // The graph's input.
  [[nodiscard]] std::string Input() const { return graph_.input; }

  // (x - mean) / std, with a mean and a std for each channel.
  std::string Normalize(const std::string& x, const std::vector<float>& mean,
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
  std::string Convolution(const std::string& x, const std::string& layer,
                          std::int64_t in, std::int64_t out,
                          const GraphWindow& window, int groups, bool bias) {
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
  // Along the channels of x [N, C, 1, 1].
  std::string ChannelConvolution(const std::string& x, const std::string& layer,
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
  std::string BatchNorm(const std::string& x, const std::string& layer,
                        std::int64_t channels) {
    return AddNode({.op = GraphOp::kBatchNorm,
                    .inputs = {x, AddWeight(layer + ".weight", {channels}),
                               AddWeight(layer + ".bias", {channels}),
                               AddWeight(layer + ".running_mean", {channels}),
                               AddWeight(layer + ".running_var", {channels})},
                    .output = layer,
                    .epsilon = static_cast<float>(kBatchNormEpsilon)});
  }
  std::string Linear(const std::string& x, const std::string& layer,
                     std::int64_t in, std::int64_t out) {
    return AddNode({.op = GraphOp::kLinear,
                    .inputs = {x, AddWeight(layer + ".weight", {out, in}),
                               AddWeight(layer + ".bias", {out})},
                    .output = layer});
  }
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
  // BlurPool, the binomial weights of 3x3 pixels with stride 2, as two averages
  // of 2x2 pixels.
  std::string Blur(const std::string& x) {
    const std::string padded = AddAfter(x, GraphOp::kReflectPad, ".padded",
                                        {.pad_before = 1, .pad_after = 1});
    return AveragePool(AveragePool(padded, {.kernel = 2}),
                       {.kernel = 2, .stride = 2});
  }
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
  [[nodiscard]] InferenceGraph Finish() && {
    Check(!graph_.nodes.empty(), "a graph has nodes");
    graph_.nodes.back().output = graph_.output;
    return std::move(graph_);
  }

 private:
  std::string AddAfter(const std::string& x, GraphOp op, const char* suffix,
                       const GraphWindow& window = {}) {
    return AddNode(
        {.op = op, .inputs = {x}, .output = x + suffix, .window = window});
  }
  std::string AddNode(GraphNode node) {
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().output;
  }
  // [C, 1, 1]: with four dimensions, OpenCV's dnn module takes the first for
  // the batch's.
  std::string AddConstant(const std::string& name,
                          const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    graph_.weights[name] = {
        .type = DataType::kFloat32,
        .shape = {static_cast<std::int64_t>(values.size()), 1, 1},
        .bytes = {bytes.begin(), bytes.end()}};
    return name;
  }
  std::string AddWeight(const std::string& name,
                        std::initializer_list<std::int64_t> shape) {
    const auto found = state_.find(name);
    if (found == state_.end()) {
      throw DataError("the weights have no tensor " + name);
    }
    const HostTensor& tensor = found->second;
    if (tensor.type != DataType::kFloat32 ||
        tensor.shape != std::vector(shape)) {
      throw DataError(fmt::format(
          "the tensor {} is not float32 of [{}]: its shape is [{}]", name,
          fmt::join(shape, ", "), fmt::join(tensor.shape, ", ")));
    }
    graph_.weights[name] = tensor;
    return name;
  }

  const TensorMap& state_;
  InferenceGraph graph_;
};

GraphWindow WindowOf(const ConvPlan& conv) {
  return {.kernel = conv.kernel,
          .stride = conv.stride,
          .pad_before = conv.kernel / 2,
          .pad_after = conv.kernel / 2};
}

// Adds the nodes of a plan; each method takes and returns a node's name.
class ResNetNodes {
 public:
  ResNetNodes(bool pre_activation, GraphBuilder& graph)
      : pre_activation_(pre_activation), graph_(graph) {}

  std::string Stem(const ResNetPlan& plan, ImageSize size, std::string x) {
    for (const ConvPlan& conv : plan.stem) {
      x = ConvolutionNorm(conv, x);
      if (!conv.norm.empty()) {
        x = graph_.Relu(x);
      }
      size = {CeilDiv(size.height, conv.stride),
              CeilDiv(size.width, conv.stride)};
    }
    switch (plan.pool) {
      case StemPool::kNone:
      case StemPool::kConvolution:
        return x;
      case StemPool::kMax:
        return graph_.MaxPool(
            x, {.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1});
      case StemPool::kMaxBlur:
        return graph_.Blur(
            graph_.MaxPool(x, {.kernel = 3, .pad_before = 1, .pad_after = 1}));
      case StemPool::kMaxSame:
        return graph_.MaxPool(x, {.kernel = 3,
                                  .stride = 2,
                                  .pad_before = size.height % 2,
                                  .pad_after = 1,
                                  .pad_left = size.width % 2});
    }
    return x;
  }

  std::string Block(const BlockPlan& block, const std::string& input) {
    if (pre_activation_) {
      return PreActivationBlock(block, input);
    }
    const std::string branch = Branch(block, input);
    const std::string shortcut =
        block.shortcut ? Shortcut(block, input) : input;
    return graph_.Relu(graph_.Add(branch, shortcut, block.name));
  }

  std::string NormRelu(const std::string& norm, std::int64_t channels,
                       const std::string& x) {
    return graph_.Relu(graph_.BatchNorm(x, norm, channels));
  }

 private:
  std::string Convolution(const ConvPlan& conv, const std::string& x) {
    return graph_.Convolution(x, conv.name, conv.in, conv.out, WindowOf(conv),
                              conv.groups, conv.bias);
  }
  std::string ConvolutionNorm(const ConvPlan& conv, const std::string& x) {
    const std::string y = Convolution(conv, x);
    return conv.norm.empty() ? y : graph_.BatchNorm(y, conv.norm, conv.out);
  }
  std::string Branch(const BlockPlan& block, std::string x) {
    for (const ConvPlan& conv : block.convs) {
      x = ConvolutionNorm(conv, x);
      if (&conv != &block.convs.back()) {
        x = graph_.Relu(x);
      }
      if (conv.blur_stride > 1) {
        x = graph_.Blur(x);
      }
    }
    if (block.eca_taps > 0) {
      return ChannelAttention(block, x);
    }
    return block.se_channels > 0 ? SqueezeExcitation(block, x) : x;
  }

  std::string PreActivationBlock(const BlockPlan& block,
                                 const std::string& input) {
    std::string x = input;
    std::string shortcut = input;
    for (const ConvPlan& conv : block.convs) {
      x = NormRelu(conv.norm, conv.in, x);
      if (&conv == &block.convs.front() && block.shortcut) {
        shortcut = Shortcut(block, x);
      }
      x = Convolution(conv, x);
    }
    return graph_.Add(x, shortcut, block.name);
  }

  std::string Shortcut(const BlockPlan& block, const std::string& x) {
    if (!block.average_shortcut) {
      return ConvolutionNorm(*block.shortcut, x);
    }
    return ConvolutionNorm(
        *block.shortcut,
        graph_.AveragePool(x, {.kernel = 2, .stride = 2, .partial = true}));
  }

  std::string SqueezeExcitation(const BlockPlan& block, const std::string& x) {
    const std::vector<ConvPlan> convs = PlanSqueezeExcitation(block);
    const std::string squeezed =
        graph_.Relu(Convolution(convs.front(), graph_.GlobalAveragePool(x)));
    const std::string excitation =
        graph_.Sigmoid(Convolution(convs.back(), squeezed));
    return graph_.ScaleChannels(x, excitation, block.name + ".se");
  }

  std::string ChannelAttention(const BlockPlan& block, const std::string& x) {
    const std::string attention = graph_.Sigmoid(
        graph_.ChannelConvolution(graph_.GlobalAveragePool(x),
                                  ChannelAttentionName(block), block.eca_taps));
    return graph_.ScaleChannels(x, attention, block.name + ".se");
  }

  bool pre_activation_;
  GraphBuilder& graph_;
};

// Add the layers of a network after x; the last node's output is the logits.
void AddResNet(const ResNetPlan& plan, const ImageSize& image_size,
               const std::string& input, GraphBuilder& graph) {
  ResNetNodes nodes(plan.pre_activation, graph);
  std::string x = nodes.Stem(plan, image_size, input);
  for (const BlockPlan& block : plan.blocks) {
    x = nodes.Block(block, x);
  }
  if (!plan.final_norm.empty()) {
    x = nodes.NormRelu(plan.final_norm, plan.features, x);
  }
  graph.Linear(graph.Flatten(graph.GlobalAveragePool(x)), plan.classifier,
               plan.features, plan.classes);
}

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
                                           layer.groups, layer.bias)
                       : graph.Linear(x, layer.name, layer.in, layer.out);
    if (layer.name != "fc3") {
      x = graph.Relu(x);
    }
    if (is_convolution) {
      x = graph.AveragePool(x, kPool);
    }
  }
}

}  // namespace

InferenceGraph BuildGraph(const ModelOptions& options, const TensorMap& weights,
                          const GraphInput& input) {
  const bool is_lenet = options.kind == ModelKind::kLeNet;
  const int channels = is_lenet ? 1 : options.channels;
  GraphBuilder graph(weights, {.channels = channels,
                               .image_size = input.image_size,
                               .classes = options.num_classes});
  const std::string x =
      graph.Normalize(graph.Input(), InTurn(input.statistics.mean, channels),
                      InTurn(input.statistics.std, channels));
  if (is_lenet) {
    AddLeNet(options.num_classes, x, graph);
  } else {
    AddResNet(PlanResNet(options), input.image_size, x, graph);
  }
  return std::move(graph).Finish();
}

}  // namespace infeed
