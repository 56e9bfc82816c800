#include "trainer/replay/replay_lines.h"

#include <limits>

#include "gtest/gtest.h"

namespace infeed {
namespace {

Geometry MirroredWindow() {
  Geometry geometry;
  geometry.window = {1, 2, 30, 20};
  geometry.is_mirrored = true;
  return geometry;
}

TEST(ReplayLinesTest, AreOneObjectForEachImage) {
  ReplayedStep step = {.place = {.step = 42}};
  step.images = {{.slot = 3,
                  .rank = 1,
                  .sample = {.record = 9,
                             .shard = "/data/train-00000-of-00001",
                             .number = 7,
                             .file_name = "a.jpg",
                             .label = 2,
                             .geometry = MirroredWindow(),
                             .augmentations = {"Invert"}}},
                 {.slot = 4,
                  .sample = {.label = 1},
                  .partner = 5,
                  .share = 0.75,
                  .result = ImageResult{
                      .loss = 0.5F, .predicted = 3, .probability = 0.25F}}};
  EXPECT_EQ(
      ReplayLines(step),
      R"({"step":42,"slot":3,"rank":1,"shard":"/data/train-00000-of-00001",)"
      R"("record":7,"file":"a.jpg","label":2,"window":[1,2,30,20],)"
      R"("mirrored":true,"augmentations":["Invert"]})"
      "\n"
      R"({"step":42,"slot":4,"rank":0,"shard":"","record":0,"file":"",)"
      R"("label":1,"window":[0,0,0,0],"mirrored":false,"augmentations":[],)"
      R"("mixed_with":5,"label_share":0.75,"loss":0.5,"predicted":3,)"
      R"("probability":0.25})"
      "\n");
}

TEST(ReplayLinesTest, ANameThatIsNoUtf8IsText) {
  EXPECT_NE(SampleJson({.file_name = "a\xFF.jpg"}).find(R"("a\\xff.jpg")"),
            std::string::npos);
}

TEST(ReplayLinesTest, ALossThatIsNoNumberIsNull) {
  ReplayedStep step;
  step.images = {
      {.sample = {.label = 1},
       .result = ImageResult{.loss = std::numeric_limits<float>::quiet_NaN()}},
      {.sample = {.label = -1}, .result = ImageResult{.loss = 1}}};
  const std::string lines = ReplayLines(step);
  const std::string null = R"("loss":null)";
  EXPECT_NE(lines.find(null), std::string::npos);
  EXPECT_NE(lines.rfind(null), lines.find(null));
}

}  // namespace
}  // namespace infeed
