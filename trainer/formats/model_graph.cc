#include "trainer/formats/model_graph.h"

#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "trainer/formats/graph_builder.h"
#include "trainer/model/layers.h"
#include "trainer/model/normalization.h"
#include "trainer/model/resnet_plan.h"

namespace infeed {
namespace {

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

  std::string Stem(const ResNetPlan& plan, ImageSize size, std::string x);
  std::string Block(const BlockPlan& block, const std::string& input);
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
  std::string Branch(const BlockPlan& block, std::string x);
  std::string PreActivationBlock(const BlockPlan& block,
                                 const std::string& input);
  std::string Shortcut(const BlockPlan& block, const std::string& x);
  std::string SqueezeExcitation(const BlockPlan& block, const std::string& x);
  std::string ChannelAttention(const BlockPlan& block, const std::string& x);

  bool pre_activation_;
  GraphBuilder& graph_;
};

std::string ResNetNodes::Stem(const ResNetPlan& plan, ImageSize size,
                              std::string x) {
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

std::string ResNetNodes::Block(const BlockPlan& block,
                               const std::string& input) {
  if (pre_activation_) {
    return PreActivationBlock(block, input);
  }
  const std::string branch = Branch(block, input);
  const std::string shortcut = block.shortcut ? Shortcut(block, input) : input;
  return graph_.Relu(graph_.Add(branch, shortcut, block.name));
}

std::string ResNetNodes::Branch(const BlockPlan& block, std::string x) {
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

std::string ResNetNodes::PreActivationBlock(const BlockPlan& block,
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

std::string ResNetNodes::Shortcut(const BlockPlan& block,
                                  const std::string& x) {
  if (!block.average_shortcut) {
    return ConvolutionNorm(*block.shortcut, x);
  }
  return ConvolutionNorm(
      *block.shortcut,
      graph_.AveragePool(x, {.kernel = 2, .stride = 2, .partial = true}));
}

std::string ResNetNodes::SqueezeExcitation(const BlockPlan& block,
                                           const std::string& x) {
  const std::vector<ConvPlan> convs = PlanSqueezeExcitation(block);
  const std::string squeezed =
      graph_.Relu(Convolution(convs.front(), graph_.GlobalAveragePool(x)));
  const std::string excitation =
      graph_.Sigmoid(Convolution(convs.back(), squeezed));
  return graph_.ScaleChannels(x, excitation, block.name + ".se");
}

std::string ResNetNodes::ChannelAttention(const BlockPlan& block,
                                          const std::string& x) {
  const std::string attention = graph_.Sigmoid(
      graph_.ChannelConvolution(graph_.GlobalAveragePool(x),
                                ChannelAttentionName(block), block.eca_taps));
  return graph_.ScaleChannels(x, attention, block.name + ".se");
}

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
