#include "tools/cli/parallel_for.h"

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(ParallelForTest, CallsEachIndexOnce) {
  for (const int threads : {0, 1, 4, 100}) {
    std::vector<std::atomic<int>> calls(50);
    ParallelFor(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_THAT(std::vector<int>(calls.begin(), calls.end()), Each(1))
        << threads << " threads";
  }
}

TEST(ParallelForTest, DoesNothingForNothing) {
  ParallelFor(0, 2, [](std::size_t) { FAIL() << "called"; });
}

TEST(ParallelForTest, HandsOnTheFirstErrorAndBeginsNoMore) {
  std::atomic<std::size_t> calls = 0;
  const auto run = [&] {
    ParallelFor(1000, 1, [&](std::size_t i) {
      ++calls;
      if (i == 3) {
        throw DataError("broken");
      }
    });
  };
  EXPECT_THROW(run(), DataError);
  EXPECT_EQ(calls, 4U);
}

TEST(ParallelForTest, HandsOnOneOfManyErrors) {
  EXPECT_THROW(ParallelFor(100, 8, [](std::size_t) { throw IoError("no"); }),
               IoError);
}

}  // namespace
}  // namespace infeed
