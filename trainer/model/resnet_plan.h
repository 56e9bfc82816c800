#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/model/options.h"

// What a ResNet is made of, as plain data under its parameters' names: the
// module that computes, the ONNX graph and the readers of other systems'
// weights are all made from it. Names are torchvision's, or timm's where
// torchvision has none (D stem and shortcut, squeeze-and-excitation).
namespace infeed {

// A convolution, zeros of kernel / 2 around its input, with its batch norm.
// The norm comes after it; in the blocks of a pre-activation network before
// it (and has then `in` channels).
struct ConvPlan {
  std::string name;       // "layer1.0.conv1"
  std::string norm = {};  // "layer1.0.bn1"; empty: none
  std::int64_t in = 0;
  std::int64_t out = 0;
  int kernel = 1;
  int stride = 1;
  bool bias = false;
  bool zero_scale = false;  // the norm's scale starts at 0 instead of 1
};

// The branch is its convolutions and norms in a row, with a ReLU after each
// norm but the last of a post-activation block; then squeeze-and-excitation
// and drop-connect. Shortcut and branch are added; after that a
// post-activation block has a ReLU. A pre-activation block's shortcut
// convolution takes what the first norm and its ReLU give; an identity takes
// the block's input.
struct BlockPlan {
  std::string name;  // "layer1.0"
  int group = 1;     // 1..4
  std::vector<ConvPlan> convs;
  // 1x1, and without ReLU; absent: the identity.
  std::optional<ConvPlan> shortcut;
  // The shortcut has stride 1, and before it a 2x2/2 average of the pixels
  // that there are: with an odd side the last row and column stand alone.
  bool average_shortcut = false;
  // The branch is multiplied by sigmoid(se.fc2(relu(se.fc1(its mean over the
  // map)))), 1x1 convolutions with biases; 0: it is not.
  std::int64_t se_channels = 0;
  // How often the branch of a sample is left out in training.
  double drop_connect_rate = 0;
  // In training, on the shortcut and after each norm (and ReLU) of the branch
  // but a pre-activation block's first.
  bool drop_block = false;
};

enum class StemPool {
  kNone,
  kMax,  // 3x3/2, one pixel of padding on all sides
  // 3x3/2 as TensorFlow's SAME: with an even side no padding before and one
  // pixel after, with an odd one both.
  kMaxSame,
  kConvolution,  // the stem's last ConvPlan, 3x3/2, with norm and ReLU
};

// Stem, pool, blocks, the mean over the map, dropout, classifier.
struct ResNetPlan {
  // A ReLU after each norm, and none where there is no norm. The pool lies
  // after them, or is the last of them.
  std::vector<ConvPlan> stem;
  StemPool pool = StemPool::kMax;
  bool pre_activation = false;
  std::vector<BlockPlan> blocks;
  // Of a pre-activation network, with a ReLU, before the mean; else empty.
  std::string final_norm;
  std::int64_t features = 0;
  std::int64_t classes = 0;
  std::string classifier = "fc";
};

// Requires: options.kind is kResNet. Throws UsageError for a depth, a number
// of classes or a combination that cannot be.
[[nodiscard]] ResNetPlan PlanOf(const ModelOptions& options);

// "layer1.0.se.fc1", "layer1.0.se.fc2". Requires: the block has them.
[[nodiscard]] std::vector<ConvPlan> SqueezeExcitationOf(const BlockPlan& block);

}  // namespace infeed
