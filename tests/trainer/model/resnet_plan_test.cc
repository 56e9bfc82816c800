#include "trainer/model/resnet_plan.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/throws.h"
#include "trainer/model/layers.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::vector<TensorPlan> Tensors(const ModelOptions& options) {
  std::vector<TensorPlan> tensors;
  for (const LayerPlan& layer : PlanLayers(options)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      tensors.push_back(tensor);
    }
  }
  return tensors;
}

std::int64_t Count(const ModelOptions& options,
                   const std::function<bool(const TensorPlan&)>& counted) {
  std::int64_t count = 0;
  for (const TensorPlan& tensor : Tensors(options)) {
    count += counted(tensor) ? CountElements(tensor) : 0;
  }
  return count;
}

std::int64_t Parameters(const ModelOptions& options) {
  return Count(options, [](const TensorPlan& t) { return !t.buffer; });
}

ModelOptions Tpu(int depth, int classes = 1000) {
  return {
      .variant = ModelVariant::kTpu, .depth = depth, .num_classes = classes};
}

// The counts of the reference's network.
struct ReferenceCounts {
  int depth;
  // 0: not counted there.
  std::int64_t classes_1000, classes_1001, classes_10, classes_5;
  std::int64_t moving, decayed;
  std::int64_t tensors, convolutions;
  std::int64_t resnet_rs, pre_activation;
};

class ReferenceCountsTest : public testing::TestWithParam<ReferenceCounts> {};

TEST_P(ReferenceCountsTest, PlansHaveTheReferencesCounts) {
  const ReferenceCounts& counts = GetParam();
  const ModelOptions plain = Tpu(counts.depth);
  EXPECT_EQ(Parameters(plain), counts.classes_1000);
  EXPECT_EQ(Parameters(Tpu(counts.depth, 1001)), counts.classes_1001);
  if (counts.classes_10 > 0) {
    EXPECT_EQ(Parameters(Tpu(counts.depth, 10)), counts.classes_10);
    EXPECT_EQ(Parameters(Tpu(counts.depth, 5)), counts.classes_5);
  }
  const auto is_moving = [](const TensorPlan& tensor) {
    return tensor.buffer && !tensor.shape.empty();
  };
  EXPECT_EQ(Count(plain, is_moving), counts.moving);
  const auto is_decayed = [](const TensorPlan& tensor) {
    return tensor.kind != ParameterKind::kNorm;
  };
  EXPECT_EQ(Count(plain, is_decayed), counts.decayed);
  const std::vector<TensorPlan> tensors = Tensors(plain);
  EXPECT_EQ(std::ranges::count(tensors, false, &TensorPlan::buffer),
            counts.tensors);
  EXPECT_EQ(
      std::ranges::count_if(
          tensors, [](const TensorPlan& t) { return t.shape.size() == 4; }),
      counts.convolutions);
  if (counts.pre_activation > 0) {
    ModelOptions options = plain;
    options.pre_activation = true;
    EXPECT_EQ(Parameters(options), counts.pre_activation);
  }
  if (counts.resnet_rs > 0) {
    ModelOptions options = plain;
    options.se_ratio = 0.25;
    options.resnetd_stem = true;
    options.resnetd_shortcut = true;
    options.replace_stem_max_pool = true;
    EXPECT_EQ(Parameters(options), counts.resnet_rs);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Depths, ReferenceCountsTest,
    testing::Values(
        ReferenceCounts{18, 11'693'736, 11'694'249, 11'185'866, 11'183'301,
                        9'728, 11'684'008, 65, 21, 0, 11'691'816},
        ReferenceCounts{34, 21'801'896, 21'802'409, 21'294'026, 21'291'461,
                        17'152, 21'784'744, 113, 37, 0, 21'799'976},
        ReferenceCounts{50, 25'557'032, 25'559'081, 23'528'522, 23'518'277,
                        53'120, 25'503'912, 161, 53, 35'691'912, 25'549'352},
        ReferenceCounts{101, 44'549'160, 44'551'209, 42'520'650, 42'510'405,
                        105'344, 44'443'816, 314, 104, 63'618'696, 44'541'480},
        ReferenceCounts{152, 60'192'808, 60'194'857, 58'164'298, 58'154'053,
                        151'424, 60'041'384, 467, 155, 86'621'576, 60'185'128},
        ReferenceCounts{200, 64'673'832, 64'675'881, 62'645'322, 62'635'077,
                        176'000, 64'497'832, 611, 203, 93'209'992, 64'666'152},
        ReferenceCounts{270, 89'599'272, 89'601'321, 0, 0, 242'816, 89'356'456,
                        827, 275, 129'861'448, 0},
        ReferenceCounts{350, 112'786'216, 112'788'265, 0, 0, 311'936,
                        112'474'280, 1061, 353, 163'956'168, 0},
        ReferenceCounts{420, 131'784'488, 131'786'537, 0, 0, 370'304,
                        131'414'184, 1268, 422, 191'891'656, 0}),
    [](const auto& param_info) {
      return std::to_string(param_info.param.depth);
    });

// Also LeNet's, of the tutorial.
TEST(ResNetPlanTest, XlaJlHasTheParametersThatTheArticlePrints) {
  EXPECT_EQ(Parameters({.variant = ModelVariant::kXlaJl}), 25'583'464);
  EXPECT_EQ(Parameters({.kind = ModelKind::kLeNet, .num_classes = 10}), 61'706);
}

TEST(ResNetPlanTest, XlaJlHasItsStrideOnTheLastConvolution) {
  const ResNetPlan plan = PlanResNet({.variant = ModelVariant::kXlaJl});
  const BlockPlan& block = plan.blocks[3];
  EXPECT_EQ(block.name, "layer2.0");
  EXPECT_EQ(block.convs[0].stride, 1);
  EXPECT_EQ(block.convs[1].stride, 1);
  EXPECT_EQ(block.convs[2].stride, 2);
  EXPECT_EQ(block.shortcut->stride, 2);
  EXPECT_EQ(plan.stem[0].norm, "");
}

// "layer1.0.conv1.weight 64x64x3" and so on.
std::vector<std::string> ConvolutionsOf(const ModelOptions& options) {
  std::vector<std::string> lines;
  for (const TensorPlan& tensor : Tensors(options)) {
    if (tensor.shape.size() == 4) {
      lines.push_back(tensor.name + " " + std::to_string(tensor.shape[0]) +
                      "x" + std::to_string(tensor.shape[1]) + "x" +
                      std::to_string(tensor.shape[2]));
    }
  }
  return lines;
}

TEST(ResNetPlanTest, ConvolutionsComeInTheReferencesOrder) {
  const std::vector<std::string> of_18 = ConvolutionsOf(Tpu(18));
  EXPECT_EQ(of_18[1], "layer1.0.downsample.0.weight 64x64x1");
  EXPECT_EQ(of_18[6], "layer2.0.downsample.0.weight 128x64x1");
  EXPECT_EQ(of_18[11], "layer3.0.downsample.0.weight 256x128x1");
  EXPECT_EQ(of_18[16], "layer4.0.downsample.0.weight 512x256x1");
  EXPECT_EQ(of_18[20], "layer4.1.conv2.weight 512x512x3");
  const std::vector<std::string> of_50 = ConvolutionsOf(Tpu(50));
  EXPECT_EQ(of_50[1], "layer1.0.downsample.0.weight 256x64x1");
  EXPECT_EQ(of_50[2], "layer1.0.conv1.weight 64x64x1");
  EXPECT_EQ(of_50[4], "layer1.0.conv3.weight 256x64x1");
}

TEST(ResNetPlanTest, PreActivationNormsComeBeforeTheirConvolutions) {
  ModelOptions options = Tpu(18);
  options.pre_activation = true;
  const std::vector<LayerPlan> layers = PlanLayers(options);
  EXPECT_EQ(layers[0].name, "conv1");
  EXPECT_EQ(layers[1].name, "layer1.0.bn1");
  EXPECT_EQ(layers[2].name, "layer1.0.downsample.0");
  EXPECT_EQ(layers[3].name, "layer1.0.conv1");
  EXPECT_EQ(layers[4].name, "layer1.0.bn2");
  EXPECT_EQ(layers[layers.size() - 2].name, "norm");
}

TEST(ResNetPlanTest, OnlyTheTpuVariantProjectsInItsFirstBasicGroup) {
  EXPECT_FALSE(PlanResNet({.depth = 18}).blocks[0].shortcut);
  EXPECT_TRUE(PlanResNet(Tpu(18)).blocks[0].shortcut);
  EXPECT_EQ(PlanResNet({.depth = 18}).pool, StemPool::kMax);
  EXPECT_EQ(PlanResNet(Tpu(18)).pool, StemPool::kMaxSame);
}

TEST(ResNetPlanTest, AveragesOnlyBeforeAShortcutWithAStride) {
  const ResNetPlan plan = PlanResNet({.resnetd_shortcut = true});
  EXPECT_FALSE(plan.blocks[0].average_shortcut);
  EXPECT_EQ(plan.blocks[0].shortcut->name, "layer1.0.downsample.1");
  EXPECT_TRUE(plan.blocks[3].average_shortcut);
  EXPECT_EQ(plan.blocks[3].shortcut->stride, 1);
  EXPECT_EQ(plan.blocks[3].shortcut->norm, "layer2.0.downsample.2");
}

TEST(ResNetPlanTest, BlursTakeTheStridesOfPoolAndBlocks) {
  const ResNetPlan plan = PlanResNet({.blur_pool = true});
  EXPECT_EQ(plan.pool, StemPool::kMaxBlur);
  EXPECT_EQ(plan.stem[0].stride, 2);
  EXPECT_EQ(plan.blocks[0].convs[1].blur_stride, 1);
  EXPECT_EQ(plan.blocks[3].convs[1].stride, 1);
  EXPECT_EQ(plan.blocks[3].convs[1].blur_stride, 2);
  EXPECT_EQ(plan.blocks[3].shortcut->stride, 2);
}

TEST(ResNetPlanTest, ChannelAttentionHasMoreTapsForMoreChannels) {
  const ResNetPlan plan = PlanResNet({.eca = true});
  EXPECT_EQ(plan.blocks[0].eca_taps, 5);
  EXPECT_EQ(plan.blocks[7].eca_taps, 5);
  EXPECT_EQ(plan.blocks[15].eca_taps, 7);
}

TEST(ResNetPlanTest, DropConnectGrowsFromGroupToGroup) {
  const ResNetPlan plan = PlanResNet({.drop_connect_rate = 0.1});
  EXPECT_DOUBLE_EQ(plan.blocks.front().drop_connect_rate, 0.04);
  EXPECT_DOUBLE_EQ(plan.blocks.back().drop_connect_rate, 0.1);
  // timm's, of 16 blocks.
  const ResNetPlan by_block = PlanResNet(
      {.drop_connect_rate = 0.1, .drop_connect_growth = DropGrowth::kBlock});
  EXPECT_EQ(by_block.blocks.front().drop_connect_rate, 0);
  EXPECT_DOUBLE_EQ(by_block.blocks[5].drop_connect_rate, 0.1 * 5 / 15);
  EXPECT_DOUBLE_EQ(by_block.blocks.back().drop_connect_rate, 0.1);
}

TEST(ResNetPlanTest, DropBlockIsInItsGroupsAlone) {
  const ResNetPlan plan =
      PlanResNet({.drop_block = {.groups = {3, 4}, .keep_prob = 0.9}});
  for (const BlockPlan& block : plan.blocks) {
    EXPECT_EQ(block.drop_block, block.group >= 3) << block.name;
  }
}

TEST(ResNetPlanTest, TheLastScaleOfABlockStartsAtZeroIfAsked) {
  const ResNetPlan zero = PlanResNet({.depth = 18});
  EXPECT_TRUE(zero.blocks[0].convs[1].zero_scale);
  EXPECT_FALSE(zero.blocks[0].convs[0].zero_scale);
  const ResNetPlan one = PlanResNet({.depth = 18, .zero_gamma = false});
  EXPECT_FALSE(one.blocks[0].convs[1].zero_scale);
}

TEST(ResNetPlanTest, RefusesWhatCannotBe) {
  const std::string no_bottleneck = " has no bottleneck blocks";
  for (const auto& [options, why] :
       std::vector<std::pair<ModelOptions, std::string>>{
           {{.depth = 20},
            "resnet_depth is 20: give 18, 26, 34, 50, 101, 152, 200, 270, 350 "
            "or 420"},
           {{.num_classes = 0}, "num_label_classes is 0: give at least 1"},
           {{.kind = ModelKind::kLeNet, .num_classes = 0},
            "num_label_classes is 0: give at least 1"},
           {{.depth = 18, .se_ratio = 0.25},
            "se_ratio cannot be: ResNet-18" + no_bottleneck},
           {{.depth = 18, .groups = 32},
            "grouped convolutions cannot be: ResNet-18" + no_bottleneck},
           {{.depth = 34, .width_per_group = 128},
            "wide convolutions cannot be: ResNet-34" + no_bottleneck},
           {{.variant = ModelVariant::kXlaJl, .groups = 32},
            "grouped convolutions cannot be: model_variant=xla_jl is one "
            "network, its ResNet-50"},
           {{.pre_activation = true, .drop_connect_rate = 0.1},
            "drop_connect_rate cannot be: pre_activation blocks have no place "
            "for it"},
           {{.small_stem = true, .resnetd_stem = true},
            "small_stem cannot be: use_resnetd_stem, ResNet-T's stem and "
            "replace_stem_max_pool build another stem"},
           {{.resnetd_stem = true, .resnett_stem = true},
            "use_resnetd_stem cannot be: ResNet-T has another stem"},
           {{.se_ratio = 0.25, .eca = true},
            "ECA cannot be: se_ratio puts another attention in its place"},
           {{.depth = 34, .eca = true},
            "ECA cannot be: ResNet-34" + no_bottleneck},
           {{.variant = ModelVariant::kTpu, .blur_pool = true},
            "BlurPool cannot be: it needs model_variant=torchvision"},
           {{.replace_stem_max_pool = true, .blur_pool = true},
            "BlurPool cannot be: replace_stem_max_pool leaves no pool to "
            "blur"},
           {{.pre_activation = true, .blur_pool = true},
            "BlurPool cannot be: pre_activation blocks have no place for it"},
           {{.channels = 0}, "channels is 0: give 1 to 64"},
           {{.channels = 65}, "channels is 65: give 1 to 64"},
           {{.variant = ModelVariant::kXlaJl, .depth = 101},
            "another resnet_depth cannot be: model_variant=xla_jl is one "
            "network, its ResNet-50"},
           {{.drop_block = {.groups = {5}, .keep_prob = 0.9}},
            "dropblock_groups with 5 cannot be: groups are 1 to 4"},
           {{.drop_block = {.groups = {4}, .keep_prob = 0}},
            "dropblock_groups without dropblock_keep_prob cannot be: give the "
            "share kept at the end, above 0 and at most 1"},
           {{.drop_block = {.groups = {4}, .size = 0}},
            "dropblock_size below 1 cannot be: it is a side"},
           {{.drop_block = {.groups = {4}, .train_steps = 0}},
            "dropblock_groups without training steps cannot be: the share "
            "kept falls over these steps"}}) {
    EXPECT_EQ(MessageOf<UsageError>([&of = options] { (void)PlanLayers(of); }),
              why);
  }
}

}  // namespace
}  // namespace infeed
