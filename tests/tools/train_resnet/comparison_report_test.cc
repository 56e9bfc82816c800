#include "tools/train_resnet/comparison_report.h"

#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace infeed::comparison_report_test {

using nlohmann::json;

SampleDescription MadeSample(const std::string& shard) {
  return {.record = 7,
          .shard = shard,
          .number = 3,
          .file_name = "cat.jpg",
          .label = 2,
          .geometry = {.source = {100, 120},
                       .window = {.y = 1, .x = 2, .height = 50, .width = 60},
                       .resized = 32}};
}

RunComparison Differing() {
  RunComparison comparison = {.model_dir_a = "runs/a",
                              .model_dir_b = "runs/b",
                              .steps_a = 300,
                              .steps_b = 200,
                              .match = {.equal_steps = 60, .differs_by = 90}};
  comparison.differences.of_input = {{.name = "seed", .a = "0", .b = "1"},
                                     {.kind = DifferenceKind::kData,
                                      .name = "data_identity",
                                      .a = "1a",
                                      .b = ""}};
  comparison.differences.others = {
      {.name = "num_parallel_calls", .a = "1", .b = "2"}};
  comparison.differences.shards = {1, 4};
  comparison.shard_names = {"train-00001-of-00008", "train-00004-of-00008"};
  comparison.sample = {.step = 73,
                       .place = 12,
                       .a = MadeSample("x/train-00001-of-00008"),
                       .b = MadeSample("x/train-00001-of-00008"),
                       .fingerprint_a = 0x1F,
                       .fingerprint_b = 0x2F};
  comparison.sample->b->label = 5;
  comparison.sample->b->augmentations = {"Rotate -30", "Grayscale"};
  return comparison;
}

TEST(ComparisonReportTest, EqualInputsSayHowManySteps) {
  RunComparison comparison = {
      .model_dir_a = "a",
      .model_dir_b = "b",
      .steps_a = 300,
      .steps_b = 200,
      .match = {.equal_steps = 200, .has_pixels = true}};
  comparison.differences.others = {{.name = "ranks", .a = "1", .b = "4"}};
  EXPECT_EQ(RenderText(ComparisonReport(comparison)),
            "A: a, 300 steps\n"
            "B: b, 200 steps\n"
            "the inputs are equal: 200 steps compared (records, windows, "
            "random choices and pixels)\n"
            "without effect on the input:\n"
            "  parameter ranks: 1 in A, 4 in B\n");
  const json report = json::parse(RenderJson(ComparisonReport(comparison)));
  EXPECT_EQ(report["same"], true);
  EXPECT_EQ(report["equal_steps"], 200);
  EXPECT_TRUE(report["differs_by"].is_null());
  EXPECT_TRUE(report["samples"].is_null());
}

TEST(ComparisonReportTest, EqualBatchesAreNotEqualInputsOfTheNetwork) {
  RunComparison comparison = {.model_dir_a = "a",
                              .model_dir_b = "b",
                              .steps_a = 10,
                              .steps_b = 10,
                              .match = {.equal_steps = 10, .has_pixels = true}};
  comparison.differences.on_device = {
      {.name = "cutmix_alpha", .a = "0", .b = "1"}};
  EXPECT_EQ(RenderText(ComparisonReport(comparison)),
            "A: a, 10 steps\n"
            "B: b, 10 steps\n"
            "the batches are equal, and the device makes other inputs of them: "
            "10 steps compared (records, windows, random choices and pixels)\n"
            "what the device makes of a batch differs by:\n"
            "  parameter cutmix_alpha: 0 in A, 1 in B\n");
  const json report = json::parse(RenderJson(ComparisonReport(comparison)));
  EXPECT_EQ(report["same"], true);
  EXPECT_EQ(report["on_device"][0]["name"], "cutmix_alpha");
}

TEST(ComparisonReportTest, DifferingInputsSayWhyAndShowBothSamples) {
  const std::string text = RenderText(ComparisonReport(Differing()));
  for (const char* const line :
       {"the inputs are equal up to step 60 and differ in steps 61 to 90 "
        "(records, windows and random choices, not pixels)\n",
        "  parameter seed: 0 in A, 1 in B\n",
        "  data data_identity: 1a in A, none in B\n",
        "  other shards, from 0: 1 (train-00001-of-00008), 4 "
        "(train-00004-of-00008)\n",
        "in step 73, number 12 of its batch", "  file           cat.jpg",
        "  window         50x60 at 1 2", "Rotate -30, Grayscale",
        "without effect on the input:\n  parameter num_parallel_calls: 1 in A, "
        "2 in B\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::ContainsRegex("label +2 +5 +<- differs\n"));
  EXPECT_THAT(text, testing::ContainsRegex("record +3 +3\n"));
  EXPECT_THAT(text, testing::ContainsRegex("fingerprint +000000000000001f +"
                                           "000000000000002f +<- differs\n"));
  EXPECT_THAT(text, Not(HasSubstr("pixels   ")));
}

TEST(ComparisonReportTest, SamplesBecomeJson) {
  const json report = json::parse(RenderJson(ComparisonReport(Differing())));
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["same"], false);
  EXPECT_EQ(report["differs_by"], 90);
  EXPECT_EQ(report["differences"][0]["kind"], "parameter");
  EXPECT_EQ(report["differences"][0]["b"], "1");
  EXPECT_EQ(report["shards"], json({1, 4}));
  EXPECT_EQ(report["without_effect"][0]["name"], "num_parallel_calls");
  EXPECT_EQ(report["step"], 73);
  EXPECT_EQ(report["place"], 12);
  EXPECT_EQ(report["samples"]["a"]["window"], json({1, 2, 50, 60}));
  EXPECT_EQ(report["samples"]["b"]["label"], 5);
  EXPECT_EQ(report["samples"]["b"]["fingerprint"], "000000000000002f");
  EXPECT_TRUE(report["no_sample"].is_null());
}

TEST(ComparisonReportTest, PixelsAloneCanDiffer) {
  RunComparison comparison = Differing();
  comparison.sample->b = comparison.sample->a;
  comparison.sample->has_other_pixels = true;
  EXPECT_THAT(RenderText(ComparisonReport(comparison)),
              testing::ContainsRegex("  pixels +<- differ\n"));
}

TEST(ComparisonReportTest, WithoutSamplesThereIsAReason) {
  RunComparison comparison = Differing();
  comparison.sample = std::nullopt;
  comparison.no_sample = "/data: cannot open\n";
  comparison.differences = {};
  const std::string text = RenderText(ComparisonReport(comparison));
  EXPECT_THAT(text, HasSubstr("no recorded parameter, data or version "
                              "differs\n"));
  EXPECT_THAT(text, HasSubstr("the samples cannot be shown: /data: cannot "
                              "open\\x0a\n"));
}

}  // namespace infeed::comparison_report_test
