#include "preprocess/augment/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

// The sums of the published table.
TEST(AugmentPolicyTest, HasThePairsOfAutoAugment) {
  EXPECT_EQ(AutoAugmentPolicy().size(), 25U);
  double probability = 0;
  int level = 0;
  std::array<int, kAugmentOps> uses{};
  for (const SubPolicy& pair : AutoAugmentPolicy()) {
    for (const PolicyStep& step : pair) {
      probability += step.probability;
      level += step.level;
      ++uses[static_cast<std::size_t>(step.op)];
    }
  }
  EXPECT_NEAR(probability, 29.8, 1e-4);
  EXPECT_EQ(level, 240);
  EXPECT_THAT(uses, testing::ElementsAre(2, 12, 1, 7, 2, 8, 2, 9, 0, 0, 0, 2, 4,
                                         0, 1, 0));
}

}  // namespace
}  // namespace infeed
