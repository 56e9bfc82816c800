#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model/options.h"
#include "trainer/model/resnet_plan.h"

// The layers of a network that have tensors, and the names and shapes of these
// tensors, as plain data: used for parameter counts, the optimizer's scopes,
// and reading and writing weights.
namespace infeed {

// Kinds of parameters that the optimizer treats differently.
enum class ParameterKind {
  kWeight,  // of a convolution or a linear layer
  kBias,    // of a convolution or a linear layer
  kNorm,    // a batch norm's scale and shift
};

enum class LayerKind {
  kConvolution,
  kChannelConvolution,  // along the channels, of a channel attention
  kNorm,
  kLinear
};

struct LayerPlan {
  LayerKind kind = LayerKind::kConvolution;
  std::string name;      // "layer1.0.conv1"
  int stage = 0;         // 0 the stem, 1..4 a ResNet's groups, 5 its head
  std::int64_t in = 0;   // channels or features; for a norm the same as out
  std::int64_t out = 0;  // > 0
  int kernel = 1;        // side, of a convolution; its taps along channels
  int groups = 1;        // of a convolution
  bool bias = false;     // false for a norm, whose shift is not called a bias
};

struct TensorPlan {
  std::string name;  // "layer1.0.conv1.weight"
  // [out, in / groups, kernel, kernel] of a convolution, [1, 1, kernel] of one
  // along the channels, [out, in] of a linear layer, [channels] of a norm, []
  // of a norm's num_batches_tracked.
  std::vector<std::int64_t> shape;
  ParameterKind kind = ParameterKind::kWeight;
  // Not trained: running_mean, running_var (float32), num_batches_tracked
  // (int64).
  bool buffer = false;
};

// The layers of a network. Those of a ResNet are in the order in
// which the reference driver creates its variables: a block's shortcut before
// its branch, a pre-activation block's first norm before both. So the k-th
// convolution (norm) is the reference's "conv2d_<k>"
// ("batch_normalization_<k>"), the first one without a number. Throws as
// PlanResNet() does.
[[nodiscard]] std::vector<LayerPlan> PlanLayers(const ModelOptions& options);

[[nodiscard]] std::vector<LayerPlan> PlanLayers(const ResNetPlan& plan);

// LeNet-5 as in the X10 tutorial: conv1 and conv2 (5x5), then fc1, fc2, fc3,
// all with biases. Throws UsageError for num_classes < 1.
[[nodiscard]] std::vector<LayerPlan> LeNetLayers(int num_classes);

// A layer's tensors, the parameters first.
[[nodiscard]] std::vector<TensorPlan> TensorsOf(const LayerPlan& layer);

[[nodiscard]] std::int64_t CountElements(const TensorPlan& tensor);

}  // namespace infeed
