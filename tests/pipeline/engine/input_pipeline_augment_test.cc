#include <algorithm>
#include <cstddef>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gtest/gtest.h"

// Augmentation is a function of the sample's key: nothing that a run is free
// to choose moves a pixel.
namespace infeed {
namespace input_pipeline_augment_test {

constexpr int kBatches = 11;  // Over two ends of epochs.

InputOptions Options(int threads) {
  return {.batch_size = 4,
          .image_size = 16,
          .augment = {.policy = AugmentPolicy::kRandAugment,
                      .brightness = 0.4F,
                      .contrast = 0.4F,
                      .saturation = 0.4F,
                      .hue = 0.1F,
                      .erasing = 0.5F},
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = threads};
}

TEST(InputPipelineAugmentTest, GivesTheSameBytesForAnyNumberOfThreads) {
  const TestShards shards(TestPayloads(22));
  const std::vector<BatchCopy> plain =
      PlainStream(shards.index(), Options(1), kBatches);
  for (const int threads : {1, 2, 3, 8}) {
    EXPECT_EQ(Stream(shards.index(), Options(threads), kBatches), plain)
        << threads << " threads";
  }
  InputOptions without = Options(3);
  without.augment = {};
  EXPECT_NE(Stream(shards.index(), without, kBatches), plain);
}

TEST(InputPipelineAugmentTest, GivesTheSameBytesAfterAResume) {
  const TestShards shards(TestPayloads(22));
  const std::vector<BatchCopy> whole =
      Stream(shards.index(), Options(3), kBatches);
  for (const std::size_t done : {1, 5, 9}) {
    const std::vector<BatchCopy> rest =
        Stream(shards.index(), Options(2), kBatches - static_cast<int>(done),
               whole[done - 1].next);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(),
                           whole.begin() + static_cast<std::ptrdiff_t>(done),
                           whole.end()))
        << done;
  }
}

TEST(InputPipelineAugmentTest, LeavesEvaluationAsItIs) {
  const TestShards shards(TestPayloads(8));
  InputOptions options = Options(2);
  options.training = false;
  options.shuffle = Shuffle::kNone;
  const std::vector<BatchCopy> augmented = Stream(shards.index(), options, 2);
  options.augment = {};
  EXPECT_EQ(augmented, Stream(shards.index(), options, 2));
}

}  // namespace input_pipeline_augment_test
}  // namespace infeed
