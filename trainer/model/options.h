#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/choices.h"

namespace infeed {

enum class ModelKind { kResNet, kLeNet };
inline constexpr Choices<ModelKind, 2> kModelKinds = {
    {{"resnet", ModelKind::kResNet}, {"lenet", ModelKind::kLeNet}}};

// The program whose geometry and parameter names a ResNet has.
enum class ModelVariant {
  kTorchvision,  // identity shortcut in group 1 of 18 and 34, pool padding 1/1
  kTpu,          // the reference driver's: projections instead, padding 0/1
  kXlaJl,        // the XLA.jl article's: biases, no norm in the stem
};
inline constexpr Choices<ModelVariant, 3> kModelVariants = {
    {{"torchvision", ModelVariant::kTorchvision},
     {"tpu", ModelVariant::kTpu},
     {"xla_jl", ModelVariant::kXlaJl}}};

inline constexpr Choices<int, 10> kResNetDepths = {{{"18", 18},
                                                    {"26", 26},
                                                    {"34", 34},
                                                    {"50", 50},
                                                    {"101", 101},
                                                    {"152", 152},
                                                    {"200", 200},
                                                    {"270", 270},
                                                    {"350", 350},
                                                    {"420", 420}}};

// Channels of an image as the input engine packs it: red, green and blue.
inline constexpr int kImageColors = 3;
inline constexpr int kMaxInputChannels = 64;

// The reference's DropBlock, in training, in the bottleneck blocks of some
// groups.
struct DropBlockOptions {
  std::vector<int> groups = {};  // 1..4; empty: none
  double keep_prob = 1;          // at the end of the training; 1 at its start
  int size = 7;                  // side of the dropped squares
  std::int64_t train_steps = 1;  // steps until keep_prob is reached
};

// How drop_connect_rate r grows towards the last of B blocks.
enum class DropGrowth {
  kGroup,  // r (g + 1) / 5 in group g, as the reference
  kBlock,  // r b / (B - 1) in block b from 0, as timm
};
inline constexpr Choices<DropGrowth, 2> kDropGrowths = {
    {{"group", DropGrowth::kGroup}, {"block", DropGrowth::kBlock}}};

// How a first convolution of 7x7 with stride 2 reads images of even sides;
// weights are the same, and results differ by rounding.
enum class StemLayout {
  kPlain,
  kSpaceToDepth,  // as 4x4 with stride 1: SpaceToDepth() (convolution.h)
};
inline constexpr Choices<StemLayout, 2> kStemLayouts = {
    {{"plain", StemLayout::kPlain},
     {"space_to_depth", StemLayout::kSpaceToDepth}}};

// Where a GPU finds the batch's statistics of a norm that follows a
// convolution, in 16-bit types; they differ by rounding.
enum class ConvStatistics {
  kPass,      // by a pass over the convolution's result
  kEpilogue,  // in the convolution, where cuDNN has a kernel that does so
  // As kEpilogue; and in float16 a convolution computes the norm and the ReLU
  // before it while it reads, and its gradients' kernels do so again, where
  // cuDNN has all of these kernels.
  kFused,
};
inline constexpr Choices<ConvStatistics, 3> kConvStatistics = {
    {{"pass", ConvStatistics::kPass},
     {"epilogue", ConvStatistics::kEpilogue},
     {"fused", ConvStatistics::kFused}}};

// What batch norm adds to the variance.
inline constexpr double kBatchNormEpsilon = 1e-5;

struct ModelOptions {
  ModelKind kind = ModelKind::kResNet;
  ModelVariant variant = ModelVariant::kTorchvision;
  int depth = 50;  // one of kResNetDepths
  // The 3x3 convolutions in bottleneck blocks: their groups, and the channels
  // per group in the first group of blocks, doubled in each later one.
  int groups = 1;
  int width_per_group = 64;
  int num_classes = 1000;
  // Input channels. Channel c is the image's color c % 3; a single channel is
  // 0.299 R + 0.587 G + 0.114 B. LeNet uses the first of 3.
  int channels = 3;
  std::uint64_t seed = 0;  // of the initial weights, dropout and the like
  int rank = 0;            // each rank draws dropout and the like differently

  bool pre_activation = false;
  bool small_stem = false;  // 3x3/1 and no pool
  bool resnetd_stem = false;
  bool resnett_stem = false;  // as small_stem, with 24 channels first
  bool resnetd_shortcut = false;
  bool replace_stem_max_pool = false;
  bool zero_gamma = true;
  bool blur_pool = false;
  double se_ratio = 0;  // 0: no squeeze-and-excitation
  bool eca = false;     // efficient channel attention
  double drop_connect_rate = 0;
  DropGrowth drop_connect_growth = DropGrowth::kGroup;
  double dropout_rate = 0;
  DropBlockOptions drop_block = {};
  double bn_momentum = 0.9;  // fraction of the moving statistics kept per step
  // In training, runs a batch norm with the sum and the ReLU after it as one
  // operation (fused_norm.h), except norms whose statistics ranks share.
  // nullopt: on a GPU. Unless false, a GPU also uses our max pool (pool.h).
  std::optional<bool> fused_batch_norm = {};
  StemLayout stem_layout = StemLayout::kPlain;
  ConvStatistics conv_statistics = ConvStatistics::kPass;

  // Number of first stages whose weights and moving statistics stay as they
  // are. Stage 1 is the stem; the four groups follow.
  int frozen_stages = 0;
  // All batch norms use their moving statistics in training, without updating
  // them.
  bool freeze_batch_norm = false;
};

// The values of fused_batch_norm; auto is nullopt.
inline constexpr Choices<std::optional<bool>, 3> kFusedNorms = {
    {{"auto", std::nullopt}, {"true", true}, {"false", false}}};

enum class Precision { kFloat32, kBfloat16, kFloat16 };
// The values of `precision`; auto is nullopt.
inline constexpr Choices<std::optional<Precision>, 4> kPrecisions = {
    {{"auto", std::nullopt},
     {"bfloat16", Precision::kBfloat16},
     {"float16", Precision::kFloat16},
     {"float32", Precision::kFloat32}}};
[[nodiscard]] inline std::string_view PrecisionText(Precision precision) {
  return ChoiceName(std::optional(precision), kPrecisions);
}
[[nodiscard]] constexpr bool Has16Bits(Precision precision) {
  return precision != Precision::kFloat32;
}

// Whether a GPU replays steps as CUDA graphs; with kTrue, steps run kernel by
// kernel if the GPU rejects them.
enum class GraphReplay { kFalse, kTrue, kRequired };
inline constexpr Choices<GraphReplay, 3> kGraphReplays = {
    {{"true", GraphReplay::kTrue},
     {"false", GraphReplay::kFalse},
     {"required", GraphReplay::kRequired}}};

// How the device normalizes a pixel's bytes.
enum class Normalization {
  kImagenet,      // (value - mean) / standard deviation, by channel
  kUnit,          // divided by 255
  kImagenetGray,  // kImagenet for models of one channel
};
inline constexpr Choices<Normalization, 2> kNormalizations = {
    {{"imagenet", Normalization::kImagenet}, {"unit", Normalization::kUnit}}};

}  // namespace infeed
