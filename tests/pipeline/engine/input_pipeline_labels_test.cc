// Records with labels of no class, through the whole pipeline.

#include <cstdint>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records of these labels, as they stand in the records.
std::vector<std::string> Payloads(const std::vector<std::int64_t>& labels) {
  std::vector<std::string> payloads;
  const std::string jpeg = TestJpeg({.width = 24, .height = 24});
  for (const std::int64_t label : labels) {
    payloads.push_back(PayloadWithImage(jpeg, label - 1));
  }
  return payloads;
}

InputOptions Evaluation(OnBadRecord policy = OnBadRecord::kSkip) {
  return {.batch_size = 4,
          .preprocess = {.image_size = 8},
          .training = false,
          .shuffle = Shuffle::kNone,
          .on_bad_record = policy,
          .threads = 2};
}

TEST(InputPipelineLabelsTest, LabelsFromZeroAreTheClasses) {
  const TestShards shards(Payloads({0, 1, 2, 3, 0, 1, 2, 3}));
  const std::vector<BatchCopy> batches =
      Stream(shards.index(), Evaluation(), 9);
  EXPECT_EQ(LabelsOf(batches),
            (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_THAT(batches[0].weights, Each(1.0F));
}

TEST(InputPipelineLabelsTest, SkipsLabelsOfNoClass) {
  // Missing, below none (the offset is 0), and one beyond four classes.
  const TestShards shards(Payloads({0, -1, 3, 4, -7, 1, 2, 3}));
  InputOptions options = Evaluation();
  options.num_label_classes = 4;
  InputPipeline pipeline(shards.index(), options);
  const std::vector<BatchCopy> batches = TakeBatches(pipeline, 9);
  EXPECT_EQ(LabelsOf(batches),
            (std::vector<std::int32_t>{0, -1, 3, -1, -1, 1, 2, 3}));
  EXPECT_THAT(batches[0].weights, ElementsAre(1, 0, 1, 0));
  const BadRecordTotals totals = pipeline.stats().bad_record_totals;
  EXPECT_EQ(totals.labels, 3);
  EXPECT_EQ(totals.met(), 3);
  EXPECT_EQ(totals.different, 3);
  EXPECT_THAT(totals.first, AllOf(HasSubstr("record 1 at byte"),
                                  HasSubstr("there is no label")));
}

TEST(InputPipelineLabelsTest, ReplacesAndListsLabelsOfNoClass) {
  const TemporaryFolder folder;
  const TestShards shards(Payloads({1, 0, 2, 3, 3, 1, 2, 3}));
  InputOptions options = Evaluation(OnBadRecord::kReplace);
  options.label_offset = 1;
  options.bad_record_report = folder / "bad";
  for (const BatchCopy& batch : Stream(shards.index(), options, 9)) {
    EXPECT_THAT(batch.weights, Each(1.0F));
    EXPECT_THAT(batch.labels,
                Each(testing::AllOf(testing::Ge(0), testing::Le(2))));
  }
  EXPECT_THAT(ReadWholeFile(folder / "bad", 1 << 20),
              AllOf(HasSubstr(R"("kind":"label","action":"replaced")"),
                    HasSubstr("image/class/label 0 is below 1")));
}

TEST(InputPipelineLabelsTest, PolicyAndBudgetApplyToBadLabels) {
  const TestShards shards(Payloads({0, 1, 2, 3, 4, -1, 2, 3}));
  InputOptions options = Evaluation(OnBadRecord::kFail);
  const auto error = [&] {
    return MessageOf<DataError>(
        [&] { (void)Stream(shards.index(), options, 9); });
  };
  EXPECT_THAT(error(), HasSubstr("there is no label"));
  options.num_label_classes = 4;
  EXPECT_THAT(error(),
              HasSubstr("image/class/label 4 is beyond the last of 4"));
  options.on_bad_record = OnBadRecord::kSkip;
  options.max_bad_records = 1;
  EXPECT_THAT(error(), HasSubstr("it is bad record number 2"));
}

TEST(InputPipelineLabelsTest, MissingLabelsAreUsedWhereNoneIsRequired) {
  const TestShards shards(Payloads({-1, -1, -1, -1}));
  InputOptions options = Evaluation(OnBadRecord::kFail);
  options.require_labels = false;
  const std::vector<BatchCopy> batches = Stream(shards.index(), options, 9);
  EXPECT_THAT(LabelsOf(batches), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(batches[0].weights, Each(1.0F));
}

TEST(InputPipelineLabelsTest, LabelsOfPackedRecordsAreTreatedAlike) {
  const TestShards shards({PackedPayload(-1, 8), PackedPayload(0, 8),
                           PackedPayload(-2, 8), PackedPayload(1, 8)});
  InputOptions options = Evaluation();
  options.preprocess.recipe = Recipe::kPlain;
  EXPECT_THAT(LabelsOf(Stream(shards.index(), options, 9)),
              ElementsAre(0, 1, -1, 2));
}

TEST(InputPipelineLabelsTest, TheStreamsStateKeepsTheLabelOffset) {
  const TestShards shards(Payloads({0, 1, 2, 3, 0, 1, 2, 3}));
  InputPipeline pipeline(shards.index(), Evaluation());
  (void)pipeline.Next();
  const std::string state = pipeline.State();
  EXPECT_THAT(state, HasSubstr("\"label_offset\": 0"));
  EXPECT_EQ(ResumePosition(state, shards.index(), Evaluation()).position, 4);
  InputOptions other = Evaluation();
  other.label_offset = 1;
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)ResumePosition(state, shards.index(), other); }),
              HasSubstr("label_offset is 1 here, 0 in the state"));
}

}  // namespace
}  // namespace infeed
