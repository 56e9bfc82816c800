#include "pipeline/memory/batch_pool.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(BatchPoolTest, LendsEachBatchOnceAndAgainWhenItIsBack) {
  BatchPool pool(2, 1, 1);
  BatchHandle first = pool.Take();
  const BatchHandle second = pool.Take();
  const Batch* const returned = first.get();
  EXPECT_NE(first.get(), second.get());
  first.reset();
  EXPECT_EQ(pool.Take().get(), returned);
}

TEST(BatchPoolTest, WaitsUntilABatchIsBack) {
  BatchPool pool(1, 1, 1);
  BatchHandle only = pool.Take();
  const Batch* taken = nullptr;
  std::jthread waiting([&] { taken = pool.Take().get(); });
  const Batch* const lent = only.get();
  only.reset();
  waiting.join();
  EXPECT_EQ(taken, lent);
}

TEST(BatchPoolTest, EndsAWaitOnClose) {
  BatchPool pool(1, 1, 1);
  const BatchHandle only = pool.Take();
  bool ended = false;
  std::jthread waiting([&] { ended = pool.Take() == nullptr; });
  pool.Close();
  waiting.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(pool.Take(), nullptr);
}

TEST(BatchPoolTest, TakesABatchBackAfterItIsGone) {
  BatchHandle survivor;
  {
    BatchPool pool(2, 1, 1);
    survivor = pool.Take();
  }
  survivor->labels()[0] = 4;
  EXPECT_EQ(survivor->labels()[0], 4);
  survivor.reset();  // Freed here, which the sanitizers watch.
}

TEST(BatchPoolTest, CopiesWhatWouldBeOneLentTooMany) {
  BatchPool pool(3, 1, 1);
  const auto next = [&] { return pool.Lend(pool.Take(), 2); };
  BatchHandle first = next();
  const BatchHandle second = next();
  const BatchHandle copy = next();
  EXPECT_NE(first.get_deleter().pool, nullptr);
  EXPECT_NE(second.get_deleter().pool, nullptr);
  EXPECT_EQ(copy.get_deleter().pool, nullptr);
  EXPECT_EQ(pool.free(), 1);
  first.reset();
  EXPECT_EQ(pool.free(), 2);
  first = next();
  EXPECT_NE(first.get_deleter().pool, nullptr);
  EXPECT_EQ(next().get_deleter().pool, nullptr);
}

TEST(BatchPoolTest, CopiesNothingWithoutALimit) {
  BatchPool pool(2, 1, 1);
  const BatchHandle first = pool.Lend(pool.Take(), 0);
  const BatchHandle second = pool.Lend(pool.Take(), 0);
  EXPECT_NE(second.get_deleter().pool, nullptr);
  EXPECT_EQ(pool.free(), 0);
}

TEST(BatchPoolTest, NeverLendsOneBatchToTwoThreads) {
  BatchPool pool(3, 1, 1);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 500; ++i) {
        const BatchHandle batch = pool.Take();
        batch->labels()[0] = t;
        ASSERT_EQ(batch->labels()[0], t);
      }
    });
  }
}

}  // namespace
}  // namespace infeed
