#include "pipeline/reading/prefetcher.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/store/record_index.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

using Records = std::vector<std::int64_t>;

InputOptions Options() {
  InputOptions options = {.batch_size = 4};
  options.training = false;
  options.shuffle = Shuffle::kNone;
  return CheckedInputOptions(options);
}

Records RecordsOfNext(Prefetcher& prefetcher) {
  const std::optional<PlannedBatch> batch = prefetcher.Next();
  return batch ? batch->records : Records();
}

// The announcements, call by call, for ten records in batches of four.
class PrefetcherTest : public ::testing::Test {
 protected:
  Prefetcher Make(const PrefetchOptions& options,
                  const InputOptions& input = Options()) {
    return {order_, BatchSequence(10, input, {}), options,
            [this](const Records& records) { announced_.push_back(records); }};
  }

  const SampleOrder order_{10, Shuffle::kNone, 0};
  std::vector<Records> announced_;
};

TEST_F(PrefetcherTest, AnnouncesSoManyBatchesAhead) {
  Prefetcher prefetcher = Make({.batches = 1});
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(announced_, ElementsAre(Records{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(announced_[1], ElementsAre(8, 9));
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(8, 9));
  EXPECT_FALSE(prefetcher.Next());
  EXPECT_EQ(announced_.size(), 2U);
}

TEST_F(PrefetcherTest, AnnouncesEachBatchItselfWithNoneAhead) {
  Prefetcher prefetcher = Make({.batches = 0});
  (void)prefetcher.Next();
  (void)prefetcher.Next();
  EXPECT_THAT(announced_,
              ElementsAre(Records{0, 1, 2, 3}, Records{4, 5, 6, 7}));
}

TEST_F(PrefetcherTest, AnnouncesABlockTogether) {
  Prefetcher prefetcher = Make({.batches = 0, .block_positions = 6});
  (void)prefetcher.Next();
  EXPECT_THAT(announced_, ElementsAre(Records{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(announced_.size(), 1U);
  (void)prefetcher.Next();
  EXPECT_THAT(announced_[1], ElementsAre(8, 9));
}

TEST_F(PrefetcherTest, AnnouncesTheRanksShareAlone) {
  InputOptions options = Options();
  options.world_size = 2;
  options.rank = 1;
  Prefetcher prefetcher = Make({.batches = 1}, options);
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(2, 3));
  EXPECT_THAT(announced_, ElementsAre(Records{2, 3, 6, 7}));
}

TEST_F(PrefetcherTest, GoesOnIntoTheNextEpochInItsOrder) {
  InputOptions options = Options();
  options.training = true;
  options.repeat = 0;
  options.last_batch = LastBatch::kDrop;
  const SampleOrder order(10, Shuffle::kGlobal, 3);
  Prefetcher prefetcher(
      order, BatchSequence(10, options, {}), {.batches = 2},
      [this](const Records& records) { announced_.push_back(records); });
  (void)prefetcher.Next();
  ASSERT_EQ(announced_.size(), 1U);
  ASSERT_EQ(announced_[0].size(), 12U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(announced_[0][i],
              order.Epoch(0).RecordAt(static_cast<std::int64_t>(i)));
    EXPECT_EQ(announced_[0][8 + i],
              order.Epoch(1).RecordAt(static_cast<std::int64_t>(i)));
  }
}

TEST_F(PrefetcherTest, GivesBatchesWithoutAnnouncing) {
  Prefetcher prefetcher(order_, BatchSequence(10, Options(), {}),
                        {.batches = 0}, nullptr);
  EXPECT_THAT(RecordsOfNext(prefetcher), ElementsAre(0, 1, 2, 3));
}

TEST(PlanPrefetchTest, TakesNeighboursTogetherWhereFilesAreShuffledInWindows) {
  const TemporaryFolder folder;
  const RecordIndex index({RecordFile().Add("a").Write(folder / "f")});
  InputOptions options = {.prefetch_batches = 5};
  EXPECT_EQ(PlanPrefetch(index, options).block_positions, 1);
  EXPECT_EQ(PlanPrefetch(index, options).batches, 5);
  options.shuffle = Shuffle::kWindow;
  EXPECT_EQ(PlanPrefetch(index, options).block_positions,
            options.window_records);
  options.graph = GraphKind::kBasic;  // It announces nothing.
  EXPECT_EQ(PlanPrefetch(index, options).block_positions, 1);
}

}  // namespace
}  // namespace infeed
