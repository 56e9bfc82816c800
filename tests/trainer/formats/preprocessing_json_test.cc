#include "trainer/formats/preprocessing_json.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace infeed {
namespace {

using nlohmann::json;

json JsonOf(PreprocessingFacts facts) {
  facts.input.label_offset = 1;
  return json::parse(PreprocessingJson(facts));
}

TEST(PreprocessingJsonTest, DescribesTheReferencesEvaluation) {
  PreprocessingFacts facts;
  facts.input.num_label_classes = 2;
  facts.labels = ModelLabels({"cat", "dog"});
  facts.step = 7;
  const json text = JsonOf(facts);
  EXPECT_EQ(text["resize"], json::parse(R"({
      "rule": "crop_then_resize", "crop_fraction": 0.875, "height": 224,
      "width": 224, "interpolation": "bicubic"})"));
  EXPECT_EQ(text["normalization"]["mean"],
            (std::vector<double>{123.675, 116.28, 103.53}));
  EXPECT_EQ(text["normalization"]["std"],
            (std::vector<double>{58.395, 57.12, 57.375}));
  EXPECT_EQ(text["input"]["shape"], json::parse(R"(["N", 3, 224, 224])"));
  EXPECT_EQ(text["output"]["shape"], json::parse(R"(["N", 2])"));
  EXPECT_EQ(text["classes"], (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(text["trained"]["loads_in"], "torchvision.models.resnet50");
  EXPECT_EQ(text["label_offset"], 1);
  EXPECT_EQ(text["trained"]["step"], 7);
  EXPECT_FALSE(text["trained"].contains("averaged_steps"));
  facts.averaged_steps = {6, 7};
  EXPECT_EQ(JsonOf(facts)["trained"]["averaged_steps"], json::parse("[6, 7]"));
}

TEST(PreprocessingJsonTest, DescribesTorchvisionsEvaluation) {
  PreprocessingFacts facts;
  facts.input.preprocess.recipe = Recipe::kTorchvision;
  EXPECT_EQ(JsonOf(facts)["resize"], json::parse(R"({
      "rule": "resize_then_crop", "shorter_side": 256, "height": 224,
      "width": 224, "interpolation": "antialias"})"));
  facts.input.preprocess.interpolation = Interpolation::kBilinear;
  EXPECT_EQ(JsonOf(facts)["resize"]["interpolation"], "bilinear");
}

TEST(PreprocessingJsonTest, HasHeightAndWidth) {
  PreprocessingFacts facts;
  facts.input.preprocess.image_size = {224, 320};
  EXPECT_EQ(JsonOf(facts)["input"]["shape"],
            json::parse(R"(["N", 3, 224, 320])"));
  EXPECT_EQ(JsonOf(facts)["resize"], json::parse(R"({
      "rule": "crop_then_resize", "crop_fraction": 0.875, "height": 224,
      "width": 320, "interpolation": "bicubic"})"));
  facts.input.preprocess.recipe = Recipe::kTorchvision;
  EXPECT_EQ(JsonOf(facts)["resize"], json::parse(R"({
      "rule": "resize_then_crop", "cover_height": 256, "cover_width": 366,
      "height": 224, "width": 320, "interpolation": "antialias"})"));
  facts.input.preprocess.crop.eval_resize = 256;
  EXPECT_EQ(JsonOf(facts)["resize"]["shorter_side"], 256);
}

TEST(PreprocessingJsonTest, HasTheMarginsOfAFittedImage) {
  PreprocessingFacts facts;
  facts.input.preprocess.recipe = Recipe::kFit;
  facts.input.preprocess.fit = {.fill = 0, .margin = FitMargin::kEnd};
  EXPECT_EQ(JsonOf(facts)["resize"], json::parse(R"({
      "rule": "fit", "fill": 0, "margin": "end", "height": 224, "width": 224,
      "interpolation": "antialias"})"));
}

TEST(PreprocessingJsonTest, HasOneChannelForLeNet) {
  PreprocessingFacts facts;
  facts.model.kind = ModelKind::kLeNet;
  facts.input.preprocess.recipe = Recipe::kPlain;
  facts.normalization = Normalization::kUnit;
  facts.input.preprocess.image_size = 28;
  facts.input.num_label_classes = 10;
  const json text = JsonOf(facts);
  EXPECT_EQ(text["input"]["channels"], json::parse(R"(["red"])"));
  EXPECT_EQ(text["input"]["shape"], json::parse(R"(["N", 1, 28, 28])"));
  EXPECT_EQ(text["normalization"]["mean"], json::parse("[0.0]"));
  EXPECT_EQ(text["normalization"]["std"], json::parse("[255.0]"));
  EXPECT_EQ(text["resize"]["rule"], "resize");
  EXPECT_TRUE(text["classes"].empty());
  EXPECT_FALSE(text["trained"].contains("loads_in"));
}

TEST(PreprocessingJsonTest, HasOneChannelForGray) {
  PreprocessingFacts facts;
  facts.model.channels = 1;
  facts.normalization = Normalization::kImagenetGray;
  const json text = JsonOf(facts);
  EXPECT_EQ(text["input"]["channels"], json::parse(R"(["gray"])"));
  EXPECT_EQ(text["input"]["shape"], json::parse(R"(["N", 1, 224, 224])"));
  EXPECT_EQ(text["normalization"]["mean"], json::parse("[114.495]"));
  EXPECT_EQ(text["normalization"]["std"], json::parse("[57.63]"));
  EXPECT_FALSE(text["trained"].contains("loads_in"));
}

TEST(PreprocessingJsonTest, RepeatsTheColorsForMoreChannels) {
  PreprocessingFacts facts;
  facts.model.channels = 4;
  const json text = JsonOf(facts);
  EXPECT_EQ(text["input"]["channels"],
            json::parse(R"(["red", "green", "blue", "red"])"));
  EXPECT_EQ(text["normalization"]["std"],
            json::parse("[58.395, 57.12, 57.375, 58.395]"));
}

TEST(PreprocessingJsonTest, NamesPublishedNetworksAlone) {
  PreprocessingFacts facts;
  facts.model.groups = 32;
  facts.model.width_per_group = 4;
  EXPECT_EQ(JsonOf(facts)["trained"]["loads_in"],
            "torchvision.models.resnext50_32x4d");
  facts.model.se_ratio = 0.0625;
  EXPECT_EQ(JsonOf(facts)["trained"]["loads_in"],
            "timm.models.seresnext50_32x4d");
  facts.model = {};
  facts.model.variant = ModelVariant::kTpu;
  EXPECT_FALSE(JsonOf(facts)["trained"].contains("loads_in"));
  facts.model.variant = ModelVariant::kTorchvision;
  facts.model.se_ratio = 0.25;
  EXPECT_FALSE(JsonOf(facts)["trained"].contains("loads_in"));
}

}  // namespace
}  // namespace infeed
