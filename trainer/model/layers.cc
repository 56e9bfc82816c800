#include "trainer/model/layers.h"

#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr int kHead = 5;  // The last stage.

LayerPlan Convolution(const ConvPlan& conv, int stage) {
  return {.kind = LayerKind::kConvolution,
          .name = conv.name,
          .stage = stage,
          .in = conv.in,
          .out = conv.out,
          .kernel = conv.kernel,
          .groups = conv.groups,
          .bias = conv.bias};
}

LayerPlan Norm(const std::string& name, std::int64_t channels, int stage) {
  return {.kind = LayerKind::kNorm,
          .name = name,
          .stage = stage,
          .in = channels,
          .out = channels};
}

LayerPlan Linear(const std::string& name, std::int64_t in, std::int64_t out,
                 int stage) {
  return {.kind = LayerKind::kLinear,
          .name = name,
          .stage = stage,
          .in = in,
          .out = out,
          .bias = true};
}

// Collects layers one after the other.
class LayerList {
 public:
  void Add(const LayerPlan& layer) { layers_.push_back(layer); }

  // The convolution, and its norm after it.
  void AddConv(const ConvPlan& conv, int stage) {
    Add(Convolution(conv, stage));
    if (!conv.norm.empty()) {
      Add(Norm(conv.norm, conv.out, stage));
    }
  }

  void AddBlock(const BlockPlan& block) {
    if (block.shortcut) {
      AddConv(*block.shortcut, block.group);
    }
    for (const ConvPlan& conv : block.convs) {
      AddConv(conv, block.group);
    }
    if (block.se_channels > 0) {
      for (const ConvPlan& conv : PlanSqueezeExcitation(block)) {
        AddConv(conv, block.group);
      }
    }
    if (block.eca_taps > 0) {
      Add({.kind = LayerKind::kChannelConvolution,
           .name = ChannelAttentionName(block),
           .stage = block.group,
           .in = 1,
           .out = 1,
           .kernel = block.eca_taps});
    }
  }

  void AddPreActivationBlock(const BlockPlan& block) {
    for (std::size_t i = 0; i < block.convs.size(); ++i) {
      const ConvPlan& conv = block.convs[i];
      Add(Norm(conv.norm, conv.in, block.group));
      if (i == 0 && block.shortcut) {
        AddConv(*block.shortcut, block.group);
      }
      Add(Convolution(conv, block.group));
    }
  }

  [[nodiscard]] std::vector<LayerPlan> Take() { return std::move(layers_); }

 private:
  std::vector<LayerPlan> layers_;
};

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

std::vector<LayerPlan> PlanLayers(const ModelOptions& options) {
  if (options.kind == ModelKind::kResNet) {
    return PlanLayers(PlanResNet(options));
  }
  if (options.frozen_stages > 0) {
    throw UsageError("frozen_stages=" + std::to_string(options.frozen_stages) +
                     " cannot be: LeNet has no stages");
  }
  return LeNetLayers(options.num_classes);
}

std::vector<LayerPlan> PlanLayers(const ResNetPlan& plan) {
  LayerList list;
  for (const ConvPlan& conv : plan.stem) {
    list.AddConv(conv, 0);
  }
  for (const BlockPlan& block : plan.blocks) {
    if (plan.pre_activation) {
      list.AddPreActivationBlock(block);
    } else {
      list.AddBlock(block);
    }
  }
  if (!plan.final_norm.empty()) {
    list.Add(Norm(plan.final_norm, plan.features, kHead));
  }
  list.Add(Linear(plan.classifier, plan.features, plan.classes, kHead));
  return list.Take();
}

std::vector<LayerPlan> LeNetLayers(int num_classes) {
  if (num_classes < 1) {
    throw UsageError("num_label_classes is " + std::to_string(num_classes) +
                     ": give at least 1");
  }
  const auto conv = [](const char* name, std::int64_t in, std::int64_t out) {
    return Convolution(
        {.name = name, .in = in, .out = out, .kernel = 5, .bias = true}, 0);
  };
  return {conv("conv1", 1, 6), conv("conv2", 6, 16), Linear("fc1", 400, 120, 0),
          Linear("fc2", 120, 84, 0), Linear("fc3", 84, num_classes, 0)};
}

std::vector<TensorPlan> TensorsOf(const LayerPlan& layer) {
  if (layer.kind == LayerKind::kNorm) {
    return TensorsOfNorm(layer);
  }
  std::vector<std::int64_t> shape = {layer.out, layer.in / layer.groups};
  if (layer.kind != LayerKind::kLinear) {
    shape.insert(shape.end(), layer.kind == LayerKind::kConvolution ? 2 : 1,
                 layer.kernel);
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
