#include "pipeline/engine/input_graph.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "pipeline/memory/batch_pool.h"
#include "tests/support/shard_builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::input_graph_test {

constexpr int kRecords = 12;
constexpr int kBatches = 30;

std::ptrdiff_t ThreadsOfThisProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// Puts batches of one, two and no samples through a graph.
class InputGraphTest : public ::testing::Test {
 protected:
  // Returns the numbers of the batches in the order of their delivery.
  std::vector<std::int64_t> Run(int threads, int slots_per_task = 1) {
    const InputOptions options{.batch_size = 2,
                               .preprocess = {.image_size = 8},
                               .label_offset = 1,
                               .threads = threads};
    const RecordStore store(shards_.index());
    StageCounters counters;
    const SeekStore seek_store(shards_.index());
    SlotFiller filler(store, seek_store, kRecords, options, counters);
    BatchPool pool(kBatches, {.size = 2, .image_size = 8});
    const SampleOrder order(kRecords, Shuffle::kGlobal, 1);
    CurrentEpoch epoch(order);
    std::deque<OpenBatch> open(kBatches);
    std::vector<std::int64_t> delivered;
    const std::ptrdiff_t before = ThreadsOfThisProcess();
    {
      InputGraph graph(filler,
                       {.threads = threads, .slots_per_task = slots_per_task},
                       [&](OpenBatch& batch) {
                         workers_.insert(std::this_thread::get_id());
                         delivered.push_back(batch.number());
                       });
      for (int i = 0; i < kBatches; ++i) {
        OpenBatch& batch = open[static_cast<std::size_t>(i)];
        batch.Begin(i, WithRecords({.first = i % 10, .samples = i % 3}, epoch),
                    pool.Take());
        graph.Put(batch);
      }
      threads_started_ = ThreadsOfThisProcess() - before;
    }
    // The kernel lists a thread for a moment after it was joined.
    while (ThreadsOfThisProcess() > before) {
      std::this_thread::yield();
    }
    return delivered;
  }

  TestShards shards_{TestPayloads(kRecords)};
  std::set<std::thread::id> workers_;
  std::ptrdiff_t threads_started_ = 0;
};

std::vector<std::int64_t> InOrder() {
  std::vector<std::int64_t> numbers(kBatches);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int64_t>(i);
  }
  return numbers;
}

TEST_F(InputGraphTest, DeliversEverythingInOrderByTheThreadsAskedFor) {
  for (const int threads : {1, 2, 7}) {
    for (const int slots_per_task : {1, 2}) {
      EXPECT_EQ(Run(threads, slots_per_task), InOrder()) << threads;
      EXPECT_EQ(threads_started_, threads);
    }
  }
}

TEST_F(InputGraphTest, EndsWithoutABatch) {
  const RecordStore store(shards_.index());
  const SeekStore seek_store(shards_.index());
  StageCounters counters;
  SlotFiller filler(store, seek_store, kRecords,
                    {.preprocess = {.image_size = 8}, .threads = 2}, counters);
  const InputGraph graph(filler, {.threads = 2},
                         [](OpenBatch&) { FAIL() << "there is none"; });
}

}  // namespace infeed::input_graph_test
