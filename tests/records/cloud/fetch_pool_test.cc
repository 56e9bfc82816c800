#include "records/cloud/fetch_pool.h"

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/cloud/cloud_runtime.h"
#include "tests/support/child_process.h"
#include "tests/support/throws.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(FetchPoolTest, DoesEachPieceOfWorkOnce) {
  FetchPool pool(3);
  std::vector<std::atomic<int>> counts(100);
  pool.ForEach(counts.size(), [&](std::size_t i) { ++counts[i]; });
  for (const std::atomic<int>& count : counts) {
    EXPECT_EQ(count, 1);
  }
  pool.ForEach(0, [](std::size_t) { FAIL(); });
}

TEST(FetchPoolTest, GetsOnWhenNoThreadIsFree) {
  std::latch release(1);
  FetchPool pool(1);
  pool.Submit([&](const std::stop_token&) { release.wait(); });
  int done = 0;
  pool.ForEach(5, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 5);
  release.count_down();
}

TEST(FetchPoolTest, WorksOnTheCallersThreadWhenItWasStopped) {
  FetchPool pool(2);
  pool.Stop();
  pool.Submit([](const std::stop_token&) { FAIL(); });
  int done = 0;
  pool.ForEach(5, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 5);
}

TEST(FetchPoolTest, EndsInAChildOfForkWithoutItsThreads) {
  auto pool = std::make_unique<FetchPool>(3);
  EXPECT_EQ(InChild([&] {
              const bool is_here = pool->IsHere();
              pool.reset();
              return std::string(is_here ? "here" : "inherited");
            }),
            "inherited");
  EXPECT_TRUE(pool->IsHere());
}

TEST(FetchPoolTest, PassesOnAnError) {
  FetchPool pool(2);
  EXPECT_EQ(MessageOf<IoError>([&] {
              pool.ForEach(10, [](std::size_t i) {
                if (i == 3) {
                  throw IoError("three");
                }
              });
            }),
            "three");
}

TEST(FetchPoolTest, TellsWhatIsRunningThatItEnds) {
  std::latch begun(1);
  std::atomic<bool> told = false;
  {
    FetchPool pool(1);
    pool.Submit([&](const std::stop_token& stop) {
      begun.count_down();
      std::latch stopped(1);
      const std::stop_callback callback(stop, [&] { stopped.count_down(); });
      stopped.wait();
      told = true;
    });
    pool.Submit([&](const std::stop_token&) { ADD_FAILURE(); });
    begun.wait();
  }
  EXPECT_TRUE(told);
}

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
