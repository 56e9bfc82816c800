// The names of a batch's samples: its epoch and number, and each slot's record
// and position.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/sample_order.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_samples_test {

using ::testing::ElementsAre;

constexpr int kRecords = 22;
const InputOptions kEvaluation{.batch_size = 4,
                               .image_size = 16,
                               .training = false,
                               .repeat = 2,
                               .seed = 7,
                               .on_bad_record = OnBadRecord::kFail,
                               .threads = 3};
constexpr int kBatches = 12;  // of two epochs

class InputPipelineSamplesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<BatchCopy> Take(const InputOptions& options) const {
    return Stream(shards_.index(), options, kBatches);
  }

  TestShards shards_{TestPayloads(kRecords)};
};

TEST_F(InputPipelineSamplesTest, AreTheOrdersOwnInEveryEpoch) {
  const SampleOrder order(kRecords, Shuffle::kGlobal, kEvaluation.seed);
  const std::vector<BatchCopy> batches = Take(kEvaluation);
  ASSERT_EQ(batches.size(), std::size_t{kBatches});
  for (int i = 0; i < kBatches; ++i) {
    const BatchCopy& batch = batches[static_cast<std::size_t>(i)];
    EXPECT_EQ(batch.epoch, i < 6 ? 0U : 1U);
    EXPECT_EQ(batch.number, i % 6);
    for (std::size_t slot = 0; slot < 4; ++slot) {
      const std::int64_t position =
          4 * batch.number + static_cast<std::int64_t>(slot);
      const bool is_padding = position >= kRecords;
      EXPECT_EQ(batch.positions[slot], is_padding ? -1 : position);
      EXPECT_EQ(batch.records[slot],
                is_padding ? -1 : order.RecordAt(batch.epoch, position));
    }
  }
}

TEST_F(InputPipelineSamplesTest, AreEachRecordOnceAnEpochOverAllRanks) {
  for (const RankShare share : {RankShare::kContiguous, RankShare::kStrided}) {
    std::vector<std::vector<std::int64_t>> seen(2);
    InputOptions options = kEvaluation;
    options.rank_share = share;
    options.world_size = 2;
    for (options.rank = 0; options.rank < 2; ++options.rank) {
      for (const BatchCopy& batch : Take(options)) {
        std::ranges::copy_if(batch.records,
                             std::back_inserter(seen[batch.epoch]),
                             [](std::int64_t record) { return record >= 0; });
      }
    }
    std::vector<std::int64_t> all(kRecords);
    std::iota(all.begin(), all.end(), 0);
    for (std::vector<std::int64_t>& records : seen) {
      std::ranges::sort(records);
      EXPECT_EQ(records, all);
    }
  }
}

TEST_F(InputPipelineSamplesTest, StartTheOrderOverInABatchThatIsFilledUp) {
  InputOptions options = kEvaluation;
  options.shuffle = Shuffle::kNone;
  options.last_batch = LastBatch::kRepeat;
  const BatchCopy last = Take(options)[5];
  EXPECT_THAT(last.records, ElementsAre(20, 21, 0, 1));
  EXPECT_THAT(last.positions, ElementsAre(20, 21, 22, 23));
}

TEST_F(InputPipelineSamplesTest, AreTheSubstitutesOfBadRecords) {
  shards_.Damage(5);
  InputOptions options = kEvaluation;
  options.shuffle = Shuffle::kNone;
  options.label_offset = 1;
  options.on_bad_record = OnBadRecord::kReplace;
  const BatchCopy replaced = Take(options)[1];
  EXPECT_NE(replaced.records[1], 5);
  // A test record's label is its number.
  EXPECT_TRUE(std::ranges::equal(replaced.records, replaced.labels));
  EXPECT_THAT(replaced.positions, ElementsAre(4, 5, 6, 7));
  options.on_bad_record = OnBadRecord::kSkip;
  const BatchCopy skipped = Take(options)[1];
  EXPECT_THAT(skipped.records, ElementsAre(4, -1, 6, 7));
  EXPECT_THAT(skipped.positions, ElementsAre(4, 5, 6, 7));
}

}  // namespace input_pipeline_samples_test
}  // namespace infeed
