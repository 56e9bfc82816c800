#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/model_options.h"

// What a ResNet is made of, as plain data under its parameters' names: the
// module that computes, the ONNX graph and the readers of other systems'
// weights are all made from it.
namespace infeed {

// A convolution and its batch norm: after it, and before the ReLU; in a
// pre-activation network before it, ReLU between. Padding is kernel / 2 on
// both sides.
struct ConvPlan {
  std::string name;  // "layer1.0.conv1"
  std::string norm;  // "layer1.0.bn1"; empty: none
  std::int64_t in = 0;
  std::int64_t out = 0;
  int kernel = 1;
  int stride = 1;
  bool bias = false;
};

struct BlockPlan {
  std::string name;  // "layer1.0"
  int group = 1;     // 1..4
  std::vector<ConvPlan> convs;
  std::optional<ConvPlan> shortcut;  // absent: the identity
  bool average_shortcut = false;     // 2x2/2 average before the shortcut
  std::int64_t se_channels = 0;      // 0: no squeeze-and-excitation
  double drop_connect_rate = 0;
  bool drop_block = false;
};

enum class StemPool {
  kNone,
  kMax,           // 3x3/2, padding 1 before and 1 after
  kMaxAfterOnly,  // 3x3/2, padding 0 before and 1 after
  kConvolution,   // 3x3/2 convolution, norm, ReLU: the stem's last ConvPlan
};

struct ResNetPlan {
  std::vector<ConvPlan> stem;
  StemPool pool = StemPool::kMax;
  bool pre_activation = false;
  bool stem_relu = true;
  std::vector<BlockPlan> blocks;
  std::string final_norm;  // of a pre-activation network
  std::int64_t features = 0;
  std::int64_t classes = 0;
  std::string classifier = "fc";
};

// Requires: options.kind is kResNet. Throws UsageError for a depth, a number
// of classes or a combination that cannot be.
[[nodiscard]] ResNetPlan PlanOf(const ModelOptions& options);

}  // namespace infeed
