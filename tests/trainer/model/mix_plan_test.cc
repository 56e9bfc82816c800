#include "trainer/model/mix_plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kSide = 96;

TEST(MixOfTest, DrawsWhatTheGoldensDid) {
  const nlohmann::json golden = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/mix_goldens.json"));
  ASSERT_FALSE(golden.empty());
  for (const nlohmann::json& item : golden) {
    const Mix mix = DrawMix(item["step"].get<std::int64_t>(), kSide,
                            {.mixup_alpha = item["mixup"].get<double>(),
                             .cutmix_alpha = item["cutmix"].get<double>(),
                             .seed = item["seed"].get<std::uint64_t>()});
    const std::array<float, 7> numbers = {
        mix.outside, mix.inside, mix.left,       mix.top,
        mix.right,   mix.bottom, mix.label_share};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i], item["mix"][i].get<double>(), 1e-6)
          << item << " " << i;
    }
  }
}

TEST(MixOfTest, LeavesImagesAloneUnlessAsked) {
  const Mix mix = DrawMix(3, kSide, {.seed = 5});
  EXPECT_EQ(mix.outside, 1);
  EXPECT_EQ(mix.label_share, 1);
  EXPECT_EQ(mix.left, mix.right);
}

// Mean and variance of Beta(alpha, alpha): 1/2 and 1 / (4 (2 alpha + 1)).
TEST(MixOfTest, SharesHaveTheMomentsOfBeta) {
  for (const double alpha : {0.01, 0.2, 1.0, 4.0}) {
    constexpr int kDraws = 20000;
    double sum = 0;
    double squares = 0;
    for (int step = 0; step < kDraws; ++step) {
      const double share =
          DrawMix(step, kSide, {.mixup_alpha = alpha, .seed = 1}).label_share;
      ASSERT_TRUE(share >= 0 && share <= 1) << share;
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.015) << alpha;
    EXPECT_NEAR(squares / kDraws, 1 / (4 * (2 * alpha + 1)), 0.006) << alpha;
  }
}

TEST(MixOfTest, BoxesLieInTheImageAndShareTheLabelByArea) {
  constexpr ImageSize kSize(40, 120);
  int cut = 0;
  float widest = 0;
  float highest = 0;
  for (int step = 0; step < 2000; ++step) {
    const Mix mix = DrawMix(step, kSize,
                            {.mixup_alpha = 0.5, .cutmix_alpha = 1, .seed = 2});
    if (mix.inside == 1) {
      EXPECT_EQ(mix.outside, mix.label_share);
      continue;
    }
    ++cut;
    EXPECT_EQ(mix.outside, 1);
    EXPECT_TRUE(mix.left >= 0 && mix.left <= mix.right && mix.right <= 120);
    EXPECT_TRUE(mix.top >= 0 && mix.top <= mix.bottom && mix.bottom <= 40);
    const float width = mix.right - mix.left;
    const float height = mix.bottom - mix.top;
    EXPECT_FLOAT_EQ(mix.label_share, 1 - width * height / (40 * 120));
    widest = std::max(widest, width);
    highest = std::max(highest, height);
  }
  EXPECT_NEAR(cut, 1000, 90);
  EXPECT_GT(widest, 100);
  EXPECT_GT(highest, 34);
}

}  // namespace
}  // namespace infeed
