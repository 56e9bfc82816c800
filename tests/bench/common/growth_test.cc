#include "bench/common/growth.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// A process that holds the same from the second eighth of its life on.
std::vector<Holding> Steady() {
  std::vector<Holding> holdings(
      16, {.bytes = 100 * kMiB, .descriptors = 9, .threads = 2});
  holdings.front() = {.bytes = 10 * kMiB, .descriptors = 3, .threads = 1};
  return holdings;
}

TEST(GrowthTest, LeavesMemorySomeSlackBehindTheWarmUp) {
  std::vector<Holding> holdings = Steady();
  EXPECT_EQ(DescribeGrowth(holdings), "");
  holdings.back().bytes = 120 * kMiB;
  EXPECT_EQ(DescribeGrowth(holdings), "");
  holdings.back().bytes = 121 * kMiB;
  EXPECT_EQ(DescribeGrowth(holdings), "memory grew from 100 to 121 MiB");
  std::fill(holdings.begin() + 8, holdings.end(),
            Holding{.bytes = kMiB, .descriptors = 1, .threads = 1});
  EXPECT_EQ(DescribeGrowth(holdings), "");
}

TEST(GrowthTest, AllowsNoFileAndNoThreadMore) {
  std::vector<Holding> holdings = Steady();
  holdings[13].descriptors = 10;
  holdings[14].threads = 3;
  EXPECT_EQ(DescribeGrowth(holdings),
            "open files grew from 9 to 10; threads grew from 2 to 3");
}

}  // namespace
}  // namespace infeed
