#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {

// Streams that are left, and resumed from their state.
namespace input_pipeline_state_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

class InputPipelineStateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shards_ = std::make_unique<TestShards>(TestPayloads(22));
    shards_->Damage(3);
  }
  static void TearDownTestSuite() { shards_.reset(); }
  static const RecordIndex& index() { return shards_->index(); }

  InputOptions options_{.batch_size = 4,
                        .preprocess = {.image_size = 16},
                        .seed = 7,
                        .threads = 3};

 private:
  static std::unique_ptr<TestShards> shards_;
};

std::unique_ptr<TestShards> InputPipelineStateTest::shards_;

TEST_F(InputPipelineStateTest, StateResumesAfterAnyBatch) {
  const std::vector<BatchCopy> whole = Stream(index(), options_, 12);
  InputPipeline pipeline(index(), options_);
  InputOptions other = options_;
  for (int taken = 0; taken < 11; ++taken) {
    other.threads = 1 + taken % 4;
    const StreamPosition start =
        ResumePosition(pipeline.State(), index(), other);
    EXPECT_EQ(Stream(index(), other, 2, start),
              std::vector(whole.begin() + taken, whole.begin() + taken + 2))
        << "after batch " << taken;
    ASSERT_NE(pipeline.Next(), nullptr);
  }
}

TEST_F(InputPipelineStateTest, AResumedStreamEndsWhereTheUninterruptedOneEnds) {
  InputOptions twice = options_;
  twice.repeat = 2;
  const StreamPosition begin = {.epoch = 5};
  const std::vector<BatchCopy> whole = Stream(index(), twice, 99, begin);
  ASSERT_EQ(whole.size(), 10U);  // of epochs 5 and 6
  EXPECT_EQ(whole.back().next, (StreamPosition{6, 20, 1}));
  InputPipeline pipeline(index(), twice, begin);
  for (int taken = 0; taken <= 10; ++taken) {
    EXPECT_EQ(Stream(index(), twice, 99,
                     ResumePosition(pipeline.State(), index(), twice)),
              std::vector(whole.begin() + taken, whole.end()))
        << "after batch " << taken;
    EXPECT_EQ(pipeline.Next() == nullptr, taken == 10);
  }
}

TEST_F(InputPipelineStateTest, StateCountsBatchesTakenNotBatchesReady) {
  InputPipeline pipeline(index(), options_);
  ASSERT_NE(pipeline.Next(), nullptr);
  EXPECT_THAT(pipeline.State(),
              AllOf(HasSubstr("\"epoch\": 0"), HasSubstr("\"position\": 4"),
                    HasSubstr("\"seed\": 7")));
}

TEST_F(InputPipelineStateTest, AllRanksHaveOneState) {
  InputPipeline one(index(), options_);
  ASSERT_NE(one.Next(), nullptr);
  InputOptions half = options_;
  half.world_size = 2;
  half.rank = 1;
  InputPipeline other(index(), half);
  ASSERT_NE(other.Next(), nullptr);
  EXPECT_EQ(one.State(), other.State());
}

TEST_F(InputPipelineStateTest, StateHasTheOptionsThatTheModeResolves) {
  InputOptions spelled = options_;
  spelled.last_batch = LastBatch::kDrop;
  EXPECT_EQ(InputPipeline(index(), options_).State(),
            InputPipeline(index(), spelled).State());
}

TEST_F(InputPipelineStateTest, AnotherStreamRefusesTheState) {
  const std::string state = InputPipeline(index(), options_).State();
  InputOptions other = options_;
  other.preprocess.image_size = 8;
  EXPECT_EQ(MessageOf<UsageError>(
                [&] { (void)ResumePosition(state, index(), other); }),
            "the state is another stream's: image_size is 8 here, 16 in the "
            "state");
}

}  // namespace input_pipeline_state_test

namespace input_pipeline_augment_test {

TEST(InputPipelineAugmentTest, ChangesTrainingAndLeavesEvaluationAsItIs) {
  const TestShards shards(TestPayloads(8));
  InputOptions options{
      .batch_size = 4,
      .preprocess = {.image_size = 16,
                     .augment = {.policy = AugmentPolicy::kRandAugment}},
      .seed = 7,
      .threads = 2};
  for (const bool training : {true, false}) {
    options.training = training;
    InputOptions without = options;
    without.preprocess.augment = {};
    EXPECT_EQ(Stream(shards.index(), options, 2) ==
                  Stream(shards.index(), without, 2),
              !training);
  }
}

}  // namespace input_pipeline_augment_test

namespace input_pipeline_cache_test {

constexpr int kRecords = 12;
constexpr int kEpoch = 3;  // batches
const InputOptions kCached{.batch_size = 4,
                           .preprocess = {.image_size = 16},
                           .seed = 5,
                           .on_bad_record = OnBadRecord::kFail,
                           .threads = 2,
                           .use_cache = true};

std::vector<BatchCopy> Uncached(const RecordIndex& index, int batches) {
  InputOptions options = kCached;
  options.use_cache = false;
  return Stream(index, options, batches);
}

// From now on nothing can be read of the shards.
void Empty(const RecordIndex& index) {
  for (const std::string& shard : index.shards()) {
    std::filesystem::resize_file(shard, 0);
  }
}

TEST(InputPipelineCacheTest, ReadsNothingTwice) {
  const TestShards shards(TestPayloads(kRecords));
  const std::vector<BatchCopy> truth = Uncached(shards.index(), 3 * kEpoch);
  InputPipeline pipeline(shards.index(), kCached);
  std::vector<BatchCopy> batches = TakeBatches(pipeline, kEpoch);
  Empty(shards.index());
  const std::vector<BatchCopy> more = TakeBatches(pipeline, 2 * kEpoch);
  batches.insert(batches.end(), more.begin(), more.end());
  EXPECT_EQ(batches, truth);
  const RecordCacheStats cache = pipeline.stats().cache;
  EXPECT_EQ(cache.records, kRecords);
  EXPECT_GE(cache.hits, 2 * kRecords);
}

TEST(InputPipelineCacheTest, ReadsAgainWhatFoundNoRoom) {
  const TestShards shards(TestPayloads(kRecords));
  InputOptions options = kCached;
  options.use_cache = false;
  options.preprocess.limits.max_memory_bytes = 1;  // None for larger images.
  options.memory_limit = InputPipeline(shards.index(), options).memory_bytes();
  options.use_cache = true;
  InputPipeline pipeline(shards.index(), options);
  EXPECT_EQ(TakeBatches(pipeline, 2 * kEpoch),
            Uncached(shards.index(), 2 * kEpoch));
  EXPECT_EQ(pipeline.stats().cache.records, 0);
}

TEST(InputPipelineCacheTest, TheCacheIsOffByDefault) {
  const TestShards shards(TestPayloads(kRecords));
  InputOptions options = kCached;
  options.use_cache = false;
  InputPipeline pipeline(shards.index(), options);
  (void)TakeBatches(pipeline, kEpoch);
  EXPECT_EQ(pipeline.stats().cache.records, 0);
  Empty(shards.index());
  EXPECT_THROW((void)TakeBatches(pipeline, 2 * kEpoch), DataError);
}

}  // namespace input_pipeline_cache_test

namespace input_pipeline_samples_test {

using ::testing::ElementsAre;

constexpr int kRecords = 22;
const InputOptions kEvaluation{.batch_size = 4,
                               .preprocess = {.image_size = 16},
                               .training = false,
                               .repeat = 2,
                               .shuffle = Shuffle::kGlobal,
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

TEST_F(InputPipelineSamplesTest, EveryEpochHasTheOrdersSamples) {
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

TEST_F(InputPipelineSamplesTest, RanksTakeEachRecordOnceAnEpoch) {
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

TEST_F(InputPipelineSamplesTest, AFilledUpBatchStartsTheOrderAgain) {
  InputOptions options = kEvaluation;
  options.shuffle = Shuffle::kNone;
  options.last_batch = LastBatch::kRepeat;
  const BatchCopy last = Take(options)[5];
  EXPECT_THAT(last.records, ElementsAre(20, 21, 0, 1));
  EXPECT_THAT(last.positions, ElementsAre(20, 21, 22, 23));
}

TEST_F(InputPipelineSamplesTest, SubstitutesAreListedForBadRecords) {
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
