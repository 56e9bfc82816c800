#include <thread>

#include <gtest/gtest.h>

#include "trainer/feed/run_input.h"

namespace infeed {
namespace {

RankPlace Place(int rank, int world_size, int local_world_size) {
  return {.rank = rank,
          .world_size = world_size,
          .local_world_size = local_world_size};
}

TEST(RankPartsTest, ShareTheMachinesThreads) {
  EXPECT_EQ(ThreadsOf({}), 0);
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(ThreadsOf(Place(0, 2, 2)), std::max(1, cores / 2));
  EXPECT_EQ(ThreadsOf(Place(0, 4096, 4096)), 1);
  EXPECT_EQ(PartOf({.threads = 3}, Place(1, 2, 2)).threads, 3);
}

TEST(RankPartsTest, TakeAPartOfEachBatch) {
  const InputOptions input = PartOf({.batch_size = 12}, Place(2, 4, 2));
  EXPECT_EQ(input.batch_size, 12);
  EXPECT_EQ(input.rank, 2);
  EXPECT_EQ(input.world_size, 4);
  EXPECT_EQ(input.local_world_size, 2);
  // An evaluation's batch is rounded up.
  const auto batch = [](int size, int ranks) {
    return PartOf({.batch_size = size, .training = false},
                  Place(0, ranks, ranks))
        .batch_size;
  };
  EXPECT_EQ(batch(7, 1), 7);
  EXPECT_EQ(batch(7, 3), 9);
  EXPECT_EQ(batch(9, 3), 9);
  EXPECT_EQ(batch(1, 4), 4);
}

}  // namespace
}  // namespace infeed
