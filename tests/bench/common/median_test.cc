#include "bench/common/median.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(MedianTest, IsTheMiddleValue) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 5}), 5);
}

TEST(MedianTest, IsTheMeanOfTwoMiddleValues) {
  EXPECT_EQ(Median({2, 1}), 1.5);
  EXPECT_EQ(Median({9, 1, 5, 7}), 6);
}

}  // namespace
}  // namespace infeed
