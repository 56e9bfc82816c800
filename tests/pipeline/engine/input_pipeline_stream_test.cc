#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {

// Streams that are left, and resumed from their state.
namespace input_pipeline_state_test {

// Twenty-two records, of which one is bad.
class InputPipelineStateTest : public ::testing::Test {
 protected:
  InputPipelineStateTest() { shards_.Damage(3); }
  [[nodiscard]] const RecordIndex& index() const { return shards_.index(); }

  TestShards shards_{TestPayloads(22)};
  InputOptions options_{.batch_size = 4,
                        .preprocess = {.image_size = 16},
                        .seed = 7,
                        .threads = 3};
};

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

TEST_F(InputPipelineStateTest, AllRanksHaveOneState) {
  InputPipeline one(index(), options_);
  ASSERT_NE(one.Next(), nullptr);
  InputOptions half = options_;
  half.world_size = 2;
  half.rank = 1;
  InputPipeline other(index(), half);
  ASSERT_NE(other.Next(), nullptr);
  const StreamState mine = ParseStreamState(one.State());
  StreamState theirs = ParseStreamState(other.State());
  EXPECT_NE(theirs.fingerprint, mine.fingerprint);  // of half of the slots
  theirs.fingerprint = mine.fingerprint;
  EXPECT_EQ(theirs, mine);
}

TEST_F(InputPipelineStateTest, StateHasTheOptionsThatTheModeResolves) {
  InputOptions spelled = options_;
  spelled.last_batch = LastBatch::kDrop;
  EXPECT_EQ(InputPipeline(index(), options_).State(),
            InputPipeline(index(), spelled).State());
}

}  // namespace input_pipeline_state_test

namespace input_pipeline_cache_test {

constexpr int kEpoch = 5;  // batches

// From now on nothing can be read of the shards.
void Empty(const RecordIndex& index) {
  for (const std::string& shard : index.shards()) {
    std::filesystem::resize_file(shard, 0);
  }
}

TEST(InputPipelineCacheTest, ReadsNothingTwice) {
  const TestShards shards(TestPayloads(12));
  const std::vector<BatchCopy> truth =
      Stream(shards.index(), SmallTraining(), 9);
  InputOptions options = SmallTraining();
  options.use_cache = true;
  InputPipeline pipeline(shards.index(), options);
  std::vector<BatchCopy> batches = TakeBatches(pipeline, 3);
  Empty(shards.index());
  const std::vector<BatchCopy> more = TakeBatches(pipeline, 6);
  batches.insert(batches.end(), more.begin(), more.end());
  EXPECT_EQ(batches, truth);
  const RecordCacheStats cache = pipeline.stats().cache;
  EXPECT_EQ(cache.records, 12);
  EXPECT_GE(cache.hits, 24);
}

TEST(InputPipelineCacheTest, ReadsAgainWhatFoundNoRoom) {
  InputOptions options = SmallTraining();
  options.preprocess.limits.max_memory_bytes = 1;  // None for larger images.
  options.memory_limit = InputPipeline(SharedIndex(), options).memory_bytes();
  options.use_cache = true;
  InputPipeline pipeline(SharedIndex(), options);
  EXPECT_EQ(TakeBatches(pipeline, 2 * kEpoch),
            Stream(SharedIndex(), SmallTraining(), 2 * kEpoch));
  EXPECT_EQ(pipeline.stats().cache.records, 0);
}

TEST(InputPipelineCacheTest, TheCacheIsOffByDefault) {
  const TestShards shards(TestPayloads(22));
  InputPipeline pipeline(shards.index(), SmallTraining());
  (void)TakeBatches(pipeline, kEpoch);
  EXPECT_EQ(pipeline.stats().cache.records, 0);
  Empty(shards.index());
  EXPECT_THROW((void)TakeBatches(pipeline, 2 * kEpoch), DataError);
}

}  // namespace input_pipeline_cache_test

}  // namespace infeed
