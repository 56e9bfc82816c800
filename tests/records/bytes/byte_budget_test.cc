#include "records/bytes/byte_budget.h"

#include <utility>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ByteBudgetTest, HoldsNoMoreThanItsLimit) {
  ByteBudget budget(10);
  EXPECT_TRUE(budget.TryTake(6));
  EXPECT_FALSE(budget.TryTake(5));
  EXPECT_TRUE(budget.TryTake(4));
  budget.Give(6);
  EXPECT_EQ(budget.held(), 4);
  EXPECT_EQ(budget.peak(), 10);
}

TEST(ByteBudgetTest, AShareIsGivenBackAtItsEnd) {
  const auto budget = std::make_shared<ByteBudget>(10);
  {
    BudgetShare share;
    EXPECT_TRUE(share.TryTake(budget, 7));
    BudgetShare moved = std::move(share);
    BudgetShare other;
    EXPECT_FALSE(other.TryTake(budget, 4));
    other = std::move(moved);
    EXPECT_EQ(budget->held(), 7);
    EXPECT_TRUE(other.TryTake(budget, 10));
  }
  EXPECT_EQ(budget->held(), 0);
}

}  // namespace
}  // namespace infeed
