#include <cstdint>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "trainer/feed/infeed.h"

#include "gtest/gtest.h"

namespace infeed {
namespace infeed_pipeline_test {

constexpr int kBatch = 4;
constexpr int kSide = 16;
const InputOptions kTraining{.batch_size = kBatch,
                             .preprocess = {.image_size = kSide},
                             .seed = 7,
                             .on_bad_record = OnBadRecord::kFail,
                             .threads = 2,
                             .batches_in_pool = 4};

// Ten records: two batches an epoch, and two records over.
const RecordIndex& Index() {
  static const TestShards kShards(TestPayloads(10));
  return kShards.index();
}

std::vector<std::int32_t> Labels(const Batch& batch) {
  return {batch.labels().begin(), batch.labels().end()};
}

// And stops the pipeline, which has no end.
TEST(InfeedPipelineTest, HandsOnThePipelinesBatches) {
  const std::vector<std::int32_t> expected =
      LabelsOf(Stream(Index(), kTraining, 3));
  Infeed infeed(std::make_shared<InputPipeline>(Index(), kTraining), kBatch,
                kSide);
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 3; ++i) {
    const std::vector<std::int32_t> more = Labels(*infeed.Next());
    labels.insert(labels.end(), more.begin(), more.end());
  }
  EXPECT_EQ(labels, expected);
}

TEST(InfeedPipelineTest, ItsPositionIsWhereAnotherRunGoesOn) {
  Infeed infeed(std::make_shared<InputPipeline>(Index(), kTraining), kBatch,
                kSide);
  EXPECT_EQ(infeed.position(), StreamPosition{});
  (void)infeed.Next();
  const StreamPosition place = infeed.position();
  const std::vector<std::int32_t> second = Labels(*infeed.Next());

  Infeed again(std::make_shared<InputPipeline>(Index(), kTraining, place),
               kBatch, kSide);
  EXPECT_EQ(again.position(), place);
  EXPECT_EQ(Labels(*again.Next()), second);
}

TEST(InfeedPipelineTest, EndsWithOneEpochOfEvaluation) {
  InputOptions options = kTraining;
  options.training = false;
  options.shuffle = Shuffle::kNone;
  Infeed infeed(std::make_shared<InputPipeline>(Index(), options), kBatch,
                kSide);
  float images = 0;
  while (const BatchHandle batch = infeed.Next()) {
    for (const float weight : batch->weights()) {
      images += weight;
    }
  }
  EXPECT_EQ(images, 10);
}

TEST(InfeedPipelineTest, PassesOnADataError) {
  TestShards shards(TestPayloads(4));
  shards.Damage(3);
  InputOptions options = kTraining;
  options.training = false;
  options.shuffle = Shuffle::kNone;
  Infeed infeed(std::make_shared<InputPipeline>(shards.index(), options),
                kBatch, kSide);
  EXPECT_THROW((void)infeed.Next(), DataError);
}

}  // namespace infeed_pipeline_test
}  // namespace infeed
