#include <filesystem>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_cache_test {

constexpr int kRecords = 12;
constexpr int kEpoch = 3;  // batches
const InputOptions kCached{.batch_size = 4,
                           .image_size = 16,
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
  options.jpeg_limits.max_memory_bytes = 1;  // None for larger images.
  options.memory_limit = InputPipeline(shards.index(), options).memory_bytes();
  options.use_cache = true;
  InputPipeline pipeline(shards.index(), options);
  EXPECT_EQ(TakeBatches(pipeline, 2 * kEpoch),
            Uncached(shards.index(), 2 * kEpoch));
  EXPECT_EQ(pipeline.stats().cache.records, 0);
}

TEST(InputPipelineCacheTest, IsNotThereUnlessAskedFor) {
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
}  // namespace infeed
