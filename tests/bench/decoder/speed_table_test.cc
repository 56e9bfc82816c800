#include "bench/decoder/speed_table.h"

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

SpeedReport Report() {
  return {
      .cpu = "A CPU",
      .target = "AVX2",
      .versions = {"libjpeg-turbo 1"},
      .images = 3,
      .windows = 2,
      .repetitions = 5,
      .rows = {{.what = "fast",
                .rival = "them",
                .theirs = 30,
                .ours = 10,
                .theirs_mean = 40,
                .goal = 2},
               {.what = "slow",
                .rival = "them",
                .theirs = 30,
                .ours = 20,
                .goal = 2},
               {.what = "free", .rival = "them", .theirs = 3, .ours = 2}},
      .figures = {
          {.what = "size",
           .value = 0.2,
           .unit = "%",
           .goal = 0.3,
           .is_ceiling = true},
          {.what = "rate", .value = 900, .unit = "images/s", .goal = 1500}}};
}

TEST(SpeedTableTest, MeetsAGoalByRatioAndByTime) {
  SpeedRow row{.what = "", .rival = "", .theirs = 30, .ours = 10, .goal = 3};
  EXPECT_TRUE(row.is_met());
  row.at_most = 10;
  EXPECT_TRUE(row.is_met());
  row.at_most = 9;
  EXPECT_FALSE(row.is_met());
  row.at_most = 0;
  row.goal = 3.1;
  EXPECT_FALSE(row.is_met());
}

TEST(SpeedTableTest, IsReadable) {
  const std::string text = RenderText(SpeedTable(Report()));
  EXPECT_THAT(text, StartsWith("A CPU, SIMD target AVX2, libjpeg-turbo 1\n"
                               "3 images, 2 windows each"));
  EXPECT_THAT(text, ContainsRegex("fast +them +30.0 +10.0 +3.00x +2x +yes\n"));
  EXPECT_THAT(text, ContainsRegex("slow +them +30.0 +20.0 +1.50x +2x +NO\n"));
  EXPECT_THAT(text, ContainsRegex("free +them +3.0 +2.0 +1.50x +- +-\n"));
  EXPECT_THAT(text, HasSubstr("size: 0.2 % (goal: at most 0.3; met: yes)\n"));
  EXPECT_THAT(text,
              HasSubstr("rate: 900 images/s (goal: at least 1500; met: NO)\n"));
}

TEST(SpeedTableTest, IsJson) {
  const nlohmann::json json =
      nlohmann::json::parse(RenderJson(SpeedTable(Report())));
  EXPECT_EQ(json["target"], "AVX2");
  EXPECT_EQ(json["rows"][0]["ratio"], 3);
  EXPECT_EQ(json["rows"][0]["theirs_mean_us"], 40);
  EXPECT_EQ(json["rows"][1]["met"], false);
  EXPECT_FALSE(json["rows"][1].contains("theirs_mean_us"));
  EXPECT_EQ(json["figures"][1]["value"], 900);
}

}  // namespace
}  // namespace infeed
