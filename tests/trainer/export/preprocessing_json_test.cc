#include "trainer/export/preprocessing_json.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace infeed {
namespace {

using nlohmann::json;

json JsonOf(TrainParams params, const ModelLabels& labels = {}) {
  params.input.label_offset = 1;
  return json::parse(PreprocessingJson(params, labels, 7));
}

TEST(PreprocessingJsonTest, DescribesTheReferencesEvaluation) {
  TrainParams params;
  params.input.num_label_classes = 2;
  const json facts = JsonOf(params, ModelLabels({"cat", "dog"}));
  EXPECT_EQ(facts["resize"], json::parse(R"({
      "rule": "crop_then_resize", "crop_fraction": 0.875, "height": 224,
      "width": 224, "interpolation": "bicubic"})"));
  EXPECT_EQ(facts["normalization"]["mean"],
            (std::vector<double>{123.675, 116.28, 103.53}));
  EXPECT_EQ(facts["normalization"]["std"],
            (std::vector<double>{58.395, 57.12, 57.375}));
  EXPECT_EQ(facts["input"]["shape"], json::parse(R"(["N", 3, 224, 224])"));
  EXPECT_EQ(facts["output"]["shape"], json::parse(R"(["N", 2])"));
  EXPECT_EQ(facts["classes"], (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(facts["trained"]["loads_in"], "torchvision.models.resnet50");
  EXPECT_EQ(facts["label_offset"], 1);
  EXPECT_EQ(facts["trained"]["step"], 7);
}

TEST(PreprocessingJsonTest, NamesTheCheckpointsOfAMean) {
  TrainParams params;
  params.input.label_offset = 1;
  const auto trained = [&](const std::vector<std::int64_t>& steps) {
    return json::parse(PreprocessingJson(params, {}, 7, steps))["trained"];
  };
  EXPECT_FALSE(trained({}).contains("averaged_steps"));
  EXPECT_EQ(trained({6, 7})["averaged_steps"], json::parse("[6, 7]"));
}

TEST(PreprocessingJsonTest, DescribesTorchvisionsEvaluation) {
  TrainParams params;
  params.input.recipe = Recipe::kTorchvision;
  EXPECT_EQ(JsonOf(params)["resize"], json::parse(R"({
      "rule": "resize_then_crop", "shorter_side": 256, "height": 224,
      "width": 224, "interpolation": "antialias"})"));
  params.input.interpolation = Interpolation::kBilinear;
  EXPECT_EQ(JsonOf(params)["resize"]["interpolation"], "bilinear");
}

TEST(PreprocessingJsonTest, HasHeightAndWidth) {
  TrainParams params;
  params.input.image_size = {224, 320};
  EXPECT_EQ(JsonOf(params)["input"]["shape"],
            json::parse(R"(["N", 3, 224, 320])"));
  EXPECT_EQ(JsonOf(params)["resize"], json::parse(R"({
      "rule": "crop_then_resize", "crop_fraction": 0.875, "height": 224,
      "width": 320, "interpolation": "bicubic"})"));
  params.input.recipe = Recipe::kTorchvision;
  EXPECT_EQ(JsonOf(params)["resize"], json::parse(R"({
      "rule": "resize_then_crop", "cover_height": 256, "cover_width": 366,
      "height": 224, "width": 320, "interpolation": "antialias"})"));
  params.input.crop.eval_resize = 256;
  EXPECT_EQ(JsonOf(params)["resize"]["shorter_side"], 256);
}

TEST(PreprocessingJsonTest, HasOneChannelForLeNet) {
  TrainParams params;
  params.model.kind = ModelKind::kLeNet;
  params.input.recipe = Recipe::kPlain;
  params.normalization = Normalization::kUnit;
  params.input.image_size = 28;
  params.input.num_label_classes = 10;
  const json facts = JsonOf(params);
  EXPECT_EQ(facts["input"]["channels"], json::parse(R"(["red"])"));
  EXPECT_EQ(facts["input"]["shape"], json::parse(R"(["N", 1, 28, 28])"));
  EXPECT_EQ(facts["normalization"]["mean"], json::parse("[0.0]"));
  EXPECT_EQ(facts["normalization"]["std"], json::parse("[255.0]"));
  EXPECT_EQ(facts["resize"]["rule"], "resize");
  EXPECT_TRUE(facts["classes"].empty());
  EXPECT_FALSE(facts["trained"].contains("loads_in"));
}

TEST(PreprocessingJsonTest, HasOneChannelForGray) {
  TrainParams params;
  params.model.channels = 1;
  const json facts = JsonOf(params);
  EXPECT_EQ(facts["input"]["channels"], json::parse(R"(["gray"])"));
  EXPECT_EQ(facts["input"]["shape"], json::parse(R"(["N", 1, 224, 224])"));
  EXPECT_EQ(facts["normalization"]["mean"], json::parse("[114.495]"));
  EXPECT_EQ(facts["normalization"]["std"], json::parse("[57.63]"));
  EXPECT_FALSE(facts["trained"].contains("loads_in"));
}

TEST(PreprocessingJsonTest, RepeatsTheColorsForMoreChannels) {
  TrainParams params;
  params.model.channels = 4;
  const json facts = JsonOf(params);
  EXPECT_EQ(facts["input"]["channels"],
            json::parse(R"(["red", "green", "blue", "red"])"));
  EXPECT_EQ(facts["normalization"]["std"],
            json::parse("[58.395, 57.12, 57.375, 58.395]"));
}

TEST(PreprocessingJsonTest, NamesPublishedNetworksAlone) {
  TrainParams params;
  params.model.groups = 32;
  params.model.width_per_group = 4;
  EXPECT_EQ(JsonOf(params)["trained"]["loads_in"],
            "torchvision.models.resnext50_32x4d");
  params.model.se_ratio = 0.0625;
  EXPECT_EQ(JsonOf(params)["trained"]["loads_in"],
            "timm.models.seresnext50_32x4d");
  params.model = {};
  params.model.variant = ModelVariant::kTpu;
  EXPECT_FALSE(JsonOf(params)["trained"].contains("loads_in"));
  params.model.variant = ModelVariant::kTorchvision;
  params.model.se_ratio = 0.25;
  EXPECT_FALSE(JsonOf(params)["trained"].contains("loads_in"));
}

}  // namespace
}  // namespace infeed
