// The memory in which a rank keeps its share of ImageNet; docs/ranks.md has
// the formula.

#include <malloc.h>

#include <cstdint>
#include <memory>

#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/memory_plan.h"
#include "tests/support/made_index.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kRanks = 1000;
constexpr std::int64_t kRecords = 1'281'167;
constexpr std::int64_t kShards = 64;

// Bytes that this process has from the heap now.
std::int64_t LiveBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

InputOptions OptionsOf(int rank, Shuffle shuffle) {
  return CheckedInputOptions({.batch_size = 32 * kRanks,
                              .rank = rank,
                              .world_size = kRanks,
                              .shuffle = shuffle});
}

// All that a rank has of the order: as much for each, whatever the batch.
struct RankOrder {
  RankOrder(const RecordIndex& index, const InputOptions& options)
      : order(ShardSizes(index, 0), options),
        epoch(order.Epoch(3)),
        sequence(order.places(), options, {.epoch = 3}) {}

  SampleOrder order;
  EpochOrder epoch;
  BatchSequence sequence;
};

class ThousandRanksMemoryTest : public ::testing::Test {
 protected:
  // Bytes of a rank's order, once it has planned a batch.
  std::int64_t OrderBytes(Shuffle shuffle) {
    const std::int64_t before = LiveBytes();
    const auto rank =
        std::make_unique<RankOrder>(index_, OptionsOf(kRanks - 1, shuffle));
    const BatchPlan plan = rank->sequence.Next().value();
    EXPECT_LT(rank->epoch.RecordAt(plan.SampleOf(0).place), kRecords);
    return LiveBytes() - before;
  }

  MadeIndexFiles files_{kRecords, kShards};
  RecordIndex index_ = files_.Index();
};

TEST_F(ThousandRanksMemoryTest, IndexIsSixteenBytesARecord) {
  const std::int64_t before = LiveBytes();
  const RecordIndex index = files_.Index();
  const std::int64_t bytes = LiveBytes() - before;
  ASSERT_EQ(index.size(), kRecords);
  EXPECT_GE(bytes, 16 * kRecords);  // That it is measured.
  // A shard's name and size, and what the heap rounds up to.
  EXPECT_LE(bytes, 16 * kRecords + 450 * kShards);
  const MemoryPlan plan =
      PlanMemory(OptionsOf(0, Shuffle::kGlobal),
                 {.records = kRecords, .longest_record = index.max_length()});
  EXPECT_LE(bytes, plan.index);
}

TEST_F(ThousandRanksMemoryTest, OnlyTorchsOrderHasATableOfRecords) {
  EXPECT_LE(OrderBytes(Shuffle::kGlobal), 2048 + 8 * kShards);
  EXPECT_LE(OrderBytes(Shuffle::kNone), 2048 + 8 * kShards);
  EXPECT_LE(OrderBytes(Shuffle::kWindow), 4096 + 64 * kShards);
  const std::int64_t torch = OrderBytes(Shuffle::kTorch);
  EXPECT_GE(torch, 4 * kRecords);
  EXPECT_LE(torch, 4 * kRecords + 8192);
}

}  // namespace
}  // namespace infeed
