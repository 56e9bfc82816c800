#include "pipeline/order/sample_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/throws.h"

namespace infeed::sample_order_test {

const std::vector<std::int64_t> kSizes = {700, 0, 1, 300, 299};

// An epoch's order, which must be equal record by record and all at once.
std::vector<std::int64_t> Epoch(const SampleOrder& order, std::uint32_t epoch) {
  const EpochOrder keyed = order.Epoch(epoch);
  std::vector<std::int64_t> records;
  for (std::int64_t i = 0; i < order.places(); ++i) {
    records.push_back(keyed.RecordAt(i));
  }
  std::vector<std::int64_t> many(records.size());
  std::iota(many.begin(), many.end(), 0);
  keyed.ToRecords(many);
  EXPECT_EQ(many, records);
  return records;
}

TEST(SampleOrderTest, HasEveryRecordOnceInAnEpoch) {
  std::vector<std::int64_t> all(1300);
  std::iota(all.begin(), all.end(), 0);
  for (const auto& [name, shuffle] : kShuffles) {
    const SampleOrder order(kSizes, {.shuffle = shuffle,
                                     .window_shards = 2,
                                     .window_records = 128,
                                     .seed = 3});
    std::vector<std::int64_t> records = Epoch(order, 4);
    EXPECT_EQ(std::is_sorted(records.begin(), records.end()),
              shuffle == Shuffle::kNone);
    std::sort(records.begin(), records.end());
    EXPECT_EQ(records, all) << name;
  }
}

TEST(SampleOrderTest, AnEvaluationHasARecordsCropsOneAfterAnother) {
  for (const auto& [name, shuffle] : kShuffles) {
    InputOptions options{.preprocess = {.crop = {.eval_crops = 5}},
                         .training = false,
                         .shuffle = shuffle};
    const SampleOrder crops(kSizes, options);
    const std::vector<std::int64_t> all = Epoch(crops, 4);
    options.preprocess.crop.eval_crops = 1;
    const std::vector<std::int64_t> records =
        Epoch(SampleOrder(kSizes, options), 4);
    ASSERT_EQ(all.size(), 5 * records.size()) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], records[i / 5]) << name;
    }
    // A training has no such crops.
    options.preprocess.crop.eval_crops = 5;
    options.training = true;
    EXPECT_EQ(SampleOrder(kSizes, options).places(), 1300);
  }
}

// The first positions of some orders: a change of them changes everybody's
// batches.
TEST(SampleOrderTest, KeepsItsOrderFromVersionToVersion) {
  const SampleOrder order(10, Shuffle::kGlobal, 42);
  EXPECT_THAT(Epoch(order, 0), ElementsAre(4, 1, 3, 2, 5, 8, 0, 6, 9, 7));
  EXPECT_THAT(Epoch(order, 1), ElementsAre(1, 7, 8, 9, 3, 6, 2, 4, 5, 0));
}

TEST(SampleOrderTest, IsTheSameGlobalOrderHoweverTheShardsAreCut) {
  const SampleOrder one(1300, Shuffle::kGlobal, 9);
  const SampleOrder many(kSizes, {.shuffle = Shuffle::kGlobal, .seed = 9});
  EXPECT_EQ(Epoch(one, 2), Epoch(many, 2));
}

TEST(SampleOrderTest, HasItsOwnWindows) {
  InputOptions options = {.shuffle = Shuffle::kWindow,
                          .window_shards = 2,
                          .window_records = 100,
                          .seed = 5};
  const WindowOrder windows(kSizes, {.shards = 2, .records = 100}, 5, 7);
  const std::vector<std::int64_t> records =
      Epoch(SampleOrder(kSizes, options), 7);
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i], windows.RecordAt(static_cast<std::int64_t>(i)));
  }
}

TEST(SampleOrderTest, IsPyTorchsWhenAskedTo) {
  const SampleOrder order(kSizes, {.shuffle = Shuffle::kTorch, .seed = 5});
  const std::vector<std::uint32_t> table = TorchOrder(1300, 5, 7);
  EXPECT_THAT(Epoch(order, 7), ::testing::ElementsAreArray(table));
}

TEST(SampleOrderTest, KnowsHowManyOfEachShardItUses) {
  const TestShards shards(TestPayloads(7), 3);
  EXPECT_THAT(ShardSizes(shards.index(), 0), ElementsAre(2, 2, 3));
  EXPECT_THAT(ShardSizes(shards.index(), 3), ElementsAre(2, 1, 0));
  EXPECT_THAT(ShardSizes(shards.index(), 100), ElementsAre(2, 2, 3));
}

TEST(SampleOrderTest, RefusesMoreRecordsThanItCanOrder) {
  EXPECT_THAT(MessageOf<UsageError>([] {
                SampleOrder(std::int64_t{1} << 32, Shuffle::kGlobal, 0);
              }),
              HasSubstr("4294967296 records, more than"));
}

}  // namespace infeed::sample_order_test
