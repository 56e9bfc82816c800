#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/model/options.h"

// The structure of a ResNet as plain data, under its parameters' names. The
// LibTorch module, the ONNX graph and the readers of other systems' weights are
// all made from it. Names are torchvision's, or timm's where torchvision has
// none (D and T stem, D shortcut, squeeze-and-excitation and the like).
namespace infeed {

// A convolution, its input padded with kernel / 2 zeros on each side, and its
// batch norm. The norm follows the convolution; in the blocks of a
// pre-activation network it precedes it (and then has `in` channels).
struct ConvPlan {
  std::string name;       // "layer1.0.conv1"
  std::string norm = {};  // "layer1.0.bn1"; empty: none
  std::int64_t in = 0;
  std::int64_t out = 0;
  int kernel = 1;
  int stride = 1;
  // The stride of a BlurPool after the norm and ReLU (binomial weights of 3x3
  // pixels, reflected edges); 1: no blur.
  int blur_stride = 1;
  int groups = 1;
  bool bias = false;
  bool zero_scale = false;  // the norm's scale starts at 0 instead of 1
};

// The branch is a sequence of convolutions and norms, with a ReLU after each
// norm but the last of a post-activation block; then squeeze-and-excitation and
// drop-connect. Shortcut and branch are added; a post-activation block then has
// a ReLU. In a pre-activation block, the input of a shortcut convolution is the
// output of the first norm and its ReLU; the identity takes the block's input.
struct BlockPlan {
  std::string name;  // "layer1.0"
  int group = 1;     // 1..4
  std::vector<ConvPlan> convs;
  // 1x1, and without ReLU; absent: the identity.
  std::optional<ConvPlan> shortcut;
  // The shortcut has stride 1 and is preceded by a 2x2/2 average pool that
  // counts real pixels only: with an odd side, the last row and column are
  // averaged by themselves.
  bool average_shortcut = false;
  // Channels of the squeeze-and-excitation: the branch is multiplied by
  // sigmoid(se.fc2(relu(se.fc1(its mean over the map)))), where fc1 and fc2 are
  // 1x1 convolutions with biases. 0: none.
  std::int64_t se_channels = 0;
  // Taps of the efficient channel attention in the same place: the branch is
  // multiplied by the sigmoid of the means over the map, convolved along the
  // channels by the layer "layer1.0.se.conv" without a bias. 0: none.
  int eca_taps = 0;
  // Probability that a sample's branch is left out in training.
  double drop_connect_rate = 0;
  // Whether DropBlock is applied in training: to the shortcut, and after each
  // norm (and ReLU) of the branch but a pre-activation block's first.
  bool drop_block = false;
};

enum class StemPool {
  kNone,
  kMax,  // 3x3/2, one pixel of padding on all sides
  // 3x3/2 as TensorFlow's SAME: with an even side one pixel of padding after
  // and none before, with an odd side one pixel on both ends.
  kMaxSame,
  kMaxBlur,      // 3x3/1, padded as kMax, then a blur with stride 2
  kConvolution,  // the stem's last ConvPlan, 3x3/2, with norm and ReLU
};

// Stem, pool, blocks, the mean over the map, dropout, classifier.
struct ResNetPlan {
  // A ReLU follows each norm and nothing else. The pool follows the stem, or is
  // its last convolution.
  std::vector<ConvPlan> stem;
  StemPool pool = StemPool::kMax;
  bool pre_activation = false;
  std::vector<BlockPlan> blocks;
  // The norm before the mean of a pre-activation network, followed by a ReLU;
  // else empty.
  std::string final_norm;
  std::int64_t features = 0;
  std::int64_t classes = 0;
  std::string classifier = "fc";
};

// Requires: options.kind is kResNet. Throws UsageError for a depth, a number of
// classes or a combination that is not possible.
[[nodiscard]] ResNetPlan PlanResNet(const ModelOptions& options);

// "layer1.0.se.conv". Requires: block.eca_taps > 0.
[[nodiscard]] inline std::string ChannelAttentionName(const BlockPlan& block) {
  return block.name + ".se.conv";
}

// "layer1.0.se.fc1", "layer1.0.se.fc2". Requires: block.se_channels > 0.
[[nodiscard]] std::vector<ConvPlan> PlanSqueezeExcitation(
    const BlockPlan& block);

}  // namespace infeed
