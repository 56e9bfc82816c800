#include "preprocess/augment/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace infeed {
namespace {

TEST(AugmentPolicyTest, NamesAreReadBack) {
  for (int i = 0; i < kAugmentOps; ++i) {
    const auto op = static_cast<AugmentOp>(i);
    EXPECT_EQ(ParseAugmentOp(AugmentOpName(op)), op);
  }
  EXPECT_THAT([] { (void)ParseAugmentOp("Blur"); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr(
                  "operation is \"Blur\": give AutoContrast, Equalize")));
}

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
