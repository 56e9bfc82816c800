#include "records/cloud/cloud_runtime.h"

#include <utility>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ByteBudgetTest, HoldsNoMoreThanItsLimit) {
  const auto budget = std::make_shared<ByteBudget>(10);
  ByteBudget::Share six = budget->TryTake(6);
  EXPECT_NE(six, nullptr);
  EXPECT_EQ(budget->TryTake(5), nullptr);
  const ByteBudget::Share four = budget->TryTake(4);
  EXPECT_NE(four, nullptr);
  const ByteBudget::Share moved = std::exchange(six, nullptr);
  EXPECT_EQ(budget->held(), 10);
}

TEST(ByteBudgetTest, AShareIsGivenBackAtItsEnd) {
  const auto budget = std::make_shared<ByteBudget>(10);
  EXPECT_NE(budget->TryTake(7), nullptr);
  EXPECT_EQ(budget->held(), 0);
  EXPECT_EQ(budget->peak(), 7);
}

}  // namespace
}  // namespace infeed
