#include "trainer/model/resnet_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

struct Architecture {
  bool bottleneck;
  std::array<int, 4> blocks;  // in each group
};

const Architecture& ArchitectureOf(int depth) {
  static const std::map<int, Architecture> kArchitectures = {
      {18, {false, {2, 2, 2, 2}}},   {26, {true, {2, 2, 2, 2}}},
      {34, {false, {3, 4, 6, 3}}},   {50, {true, {3, 4, 6, 3}}},
      {101, {true, {3, 4, 23, 3}}},  {152, {true, {3, 8, 36, 3}}},
      {200, {true, {3, 24, 36, 3}}}, {270, {true, {4, 29, 53, 4}}},
      {350, {true, {4, 36, 72, 4}}}, {420, {true, {4, 44, 87, 4}}},
  };
  const auto found = kArchitectures.find(depth);
  if (found == kArchitectures.end()) {
    throw UsageError("resnet_depth is " + std::to_string(depth) +
                     ": give 18, 26, 34, 50, 101, 152, 200, 270, 350 or 420");
  }
  return found->second;
}

void Refuse(bool given, std::string_view name, std::string_view reason) {
  if (given) {
    throw UsageError(std::string(name) + " cannot be: " + std::string(reason));
  }
}

void CheckDropBlock(const DropBlockOptions& options) {
  for (const int group : options.groups) {
    Refuse(group < 1 || group > 4,
           "dropblock_groups with " + std::to_string(group),
           "groups are 1 to 4");
  }
  if (!options.groups.empty()) {
    Refuse(!(options.keep_prob > 0 && options.keep_prob <= 1),
           "dropblock_groups without dropblock_keep_prob",
           "give the share kept at the end, above 0 and at most 1");
    Refuse(options.size < 1, "dropblock_size below 1", "it is a side");
    Refuse(options.train_steps < 1, "dropblock_groups without training steps",
           "the share kept falls over these steps");
  }
}

void CheckCombination(const ModelOptions& options, bool bottleneck) {
  const bool new_stem = options.resnetd_stem || options.resnett_stem ||
                        options.replace_stem_max_pool;
  Refuse(options.small_stem && new_stem, "small_stem",
         "use_resnetd_stem, ResNet-T's stem and replace_stem_max_pool build "
         "another stem");
  Refuse(options.resnetd_stem && options.resnett_stem, "use_resnetd_stem",
         "ResNet-T has another stem");
  Refuse(options.eca && options.se_ratio > 0, "ECA",
         "se_ratio puts another attention in its place");
  if (!bottleneck) {
    const std::string reason =
        "ResNet-" + std::to_string(options.depth) + " has no bottleneck blocks";
    Refuse(options.groups != 1, "grouped convolutions", reason);
    Refuse(options.width_per_group != 64, "wide convolutions", reason);
    Refuse(options.se_ratio > 0, "se_ratio", reason);
    Refuse(options.eca, "ECA", reason);
    Refuse(options.drop_connect_rate > 0, "drop_connect_rate", reason);
    Refuse(options.resnetd_shortcut, "resnetd_shortcut", reason);
    Refuse(!options.drop_block.groups.empty(), "dropblock_groups", reason);
  }
  if (options.pre_activation) {
    const char* reason = "pre_activation blocks have no place for it";
    Refuse(options.se_ratio > 0, "se_ratio", reason);
    Refuse(options.eca, "ECA", reason);
    Refuse(options.blur_pool, "BlurPool", reason);
    Refuse(options.drop_connect_rate > 0, "drop_connect_rate", reason);
  }
  if (options.variant == ModelVariant::kXlaJl) {
    const char* reason = "model_variant=xla_jl is one network, its ResNet-50";
    Refuse(options.depth != 50, "another resnet_depth", reason);
    Refuse(options.groups != 1, "grouped convolutions", reason);
    Refuse(options.width_per_group != 64, "wide convolutions", reason);
    Refuse(options.pre_activation, "pre_activation", reason);
    Refuse(options.small_stem, "small_stem", reason);
    Refuse(options.resnetd_stem, "use_resnetd_stem", reason);
    Refuse(options.resnett_stem, "ResNet-T's stem", reason);
    Refuse(options.resnetd_shortcut, "resnetd_shortcut", reason);
    Refuse(options.replace_stem_max_pool, "replace_stem_max_pool", reason);
    Refuse(options.se_ratio > 0, "se_ratio", reason);
    Refuse(options.eca, "ECA", reason);
  }
  Refuse(options.blur_pool && options.variant != ModelVariant::kTorchvision,
         "BlurPool", "it needs model_variant=torchvision");
  Refuse(options.blur_pool && options.replace_stem_max_pool, "BlurPool",
         "replace_stem_max_pool leaves no pool to blur");
}

// Taps of the attention over this many channels, as in its paper.
int ChannelTaps(std::int64_t channels) {
  const auto taps =
      static_cast<int>((std::log2(static_cast<double>(channels)) + 1) / 2);
  return std::max(3, taps % 2 == 1 ? taps : taps + 1);
}

// Builds one plan. Its only state is the number of channels between blocks.
class Planner {
 public:
  Planner(const ModelOptions& options, const Architecture& architecture)
      : options_(options),
        architecture_(architecture),
        biases_(options.variant == ModelVariant::kXlaJl) {}

  ResNetPlan Plan() {
    PlanStem();
    for (int group = 1; group <= 4; ++group) {
      const int blocks =
          architecture_.blocks[static_cast<std::size_t>(group - 1)];
      for (int index = 0; index < blocks; ++index) {
        plan_.blocks.push_back(Block(group, index));
        channels_ = plan_.blocks.back().convs.back().out;
      }
    }
    plan_.pre_activation = options_.pre_activation;
    plan_.final_norm = options_.pre_activation ? "norm" : "";
    plan_.features = channels_;
    plan_.classes = options_.num_classes;
    return std::move(plan_);
  }

 private:
  void PlanStem() {
    if (options_.resnetd_stem || options_.resnett_stem) {
      const std::int64_t first = options_.resnett_stem ? 24 : 32;
      plan_.stem = {
          {.name = "conv1.0",
           .norm = "conv1.1",
           .in = options_.channels,
           .out = first,
           .kernel = 3,
           .stride = 2},
          {.name = "conv1.3",
           .norm = "conv1.4",
           .in = first,
           .out = 32,
           .kernel = 3},
          {.name = "conv1.6", .norm = "bn1", .in = 32, .out = 64, .kernel = 3}};
    } else {
      plan_.stem = {{.name = "conv1",
                     .norm = "bn1",
                     .in = options_.channels,
                     .out = 64,
                     .kernel = options_.small_stem ? 3 : 7,
                     .stride = options_.small_stem ? 1 : 2,
                     .bias = biases_}};
    }
    if (options_.pre_activation || options_.variant == ModelVariant::kXlaJl) {
      plan_.stem.back().norm.clear();
    }
    plan_.pool = options_.variant == ModelVariant::kTpu ? StemPool::kMaxSame
                 : options_.blur_pool                   ? StemPool::kMaxBlur
                                                        : StemPool::kMax;
    if (options_.small_stem) {
      plan_.pool = StemPool::kNone;
    } else if (options_.replace_stem_max_pool) {
      plan_.pool = StemPool::kConvolution;
      plan_.stem.push_back({.name = "maxpool.0",
                            .norm = "maxpool.1",
                            .in = 64,
                            .out = 64,
                            .kernel = 3,
                            .stride = 2});
    }
  }

  [[nodiscard]] BlockPlan Block(int group, int index) const {
    BlockPlan block;
    block.group = group;
    block.name = "layer" + std::to_string(group) + "." + std::to_string(index);
    const int stride = group > 1 && index == 0 ? 2 : 1;
    AddBranch(std::int64_t{32} << group, stride, block);
    const bool always = index == 0 && options_.variant == ModelVariant::kTpu;
    if (always || stride != 1 || channels_ != block.convs.back().out) {
      AddShortcut(stride, block);
    }
    AddExtras(block);
    return block;
  }

  void AddBranch(std::int64_t channels, int stride, BlockPlan& block) const {
    const auto add = [&](std::int64_t in, std::int64_t out, int kernel,
                         int conv_stride, int groups = 1) {
      const std::string number = std::to_string(block.convs.size() + 1);
      block.convs.push_back(
          {.name = block.name + ".conv" + number,
           .norm = block.name + ".bn" + number,
           .in = in,
           .out = out,
           .kernel = kernel,
           .stride = options_.blur_pool ? 1 : conv_stride,
           .blur_stride = options_.blur_pool ? conv_stride : 1,
           .groups = groups,
           .bias = biases_});
    };
    if (architecture_.bottleneck) {
      const bool last = options_.variant == ModelVariant::kXlaJl;
      const std::int64_t width =
          channels * options_.width_per_group / 64 * options_.groups;
      add(channels_, width, 1, 1);
      add(width, width, 3, last ? 1 : stride, options_.groups);
      add(width, 4 * channels, 1, last ? stride : 1);
    } else {
      add(channels_, channels, 3, stride);
      add(channels, channels, 3, 1);
    }
    block.convs.back().zero_scale = options_.zero_gamma &&
                                    !options_.pre_activation &&
                                    options_.variant != ModelVariant::kXlaJl;
  }

  void AddShortcut(int stride, BlockPlan& block) const {
    block.average_shortcut = options_.resnetd_shortcut && stride != 1;
    // Then index 0 is reserved for the average, whether it is used or not.
    const int place = options_.resnetd_shortcut ? 1 : 0;
    const auto name = [&](int module) {
      return block.name + ".downsample." + std::to_string(module);
    };
    block.shortcut = {.name = name(place),
                      .norm = options_.pre_activation ? "" : name(place + 1),
                      .in = channels_,
                      .out = block.convs.back().out,
                      .stride = block.average_shortcut ? 1 : stride,
                      .bias = biases_};
  }

  void AddExtras(BlockPlan& block) const {
    const auto out = static_cast<double>(block.convs.back().out);
    if (options_.se_ratio > 0) {
      block.se_channels = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(out * options_.se_ratio));
    }
    if (options_.eca) {
      block.eca_taps = ChannelTaps(block.convs.back().out);
    }
    block.drop_connect_rate = DropConnectRate(block.group);
    const std::vector<int>& groups = options_.drop_block.groups;
    block.drop_block =
        std::find(groups.begin(), groups.end(), block.group) != groups.end();
  }

  // The rate of the next block.
  [[nodiscard]] double DropConnectRate(int group) const {
    const double rate = options_.drop_connect_rate;
    switch (options_.drop_connect_growth) {
      case DropGrowth::kGroup:
        return rate * (group + 1) / 5;
      case DropGrowth::kBlock:
        break;
    }
    const auto& blocks = architecture_.blocks;
    const int last = std::accumulate(blocks.begin(), blocks.end(), -1);
    return rate * static_cast<double>(plan_.blocks.size()) / last;
  }

  const ModelOptions& options_;
  const Architecture& architecture_;
  bool biases_;
  std::int64_t channels_ = 64;
  ResNetPlan plan_;
};

}  // namespace

ResNetPlan PlanResNet(const ModelOptions& options) {
  const Architecture& architecture = ArchitectureOf(options.depth);
  if (options.num_classes < 1) {
    throw UsageError("num_label_classes is " +
                     std::to_string(options.num_classes) + ": give at least 1");
  }
  if (options.channels < 1 || options.channels > kMaxInputChannels) {
    throw UsageError("channels is " + std::to_string(options.channels) +
                     ": give 1 to " + std::to_string(kMaxInputChannels));
  }
  CheckCombination(options, architecture.bottleneck);
  CheckDropBlock(options.drop_block);
  return Planner(options, architecture).Plan();
}

std::vector<ConvPlan> PlanSqueezeExcitation(const BlockPlan& block) {
  const std::int64_t out = block.convs.back().out;
  return {{.name = block.name + ".se.fc1",
           .in = out,
           .out = block.se_channels,
           .bias = true},
          {.name = block.name + ".se.fc2",
           .in = block.se_channels,
           .out = out,
           .bias = true}};
}

}  // namespace infeed
