// Features of the records beside the images: Batch::fields().

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_fields_test {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kRecords = 10;

// Record r has r % 3 labels r, r + 100, ... and a name; record 4 has no name.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (int record = 0; record < kRecords; ++record) {
    std::vector<std::int64_t> labels;
    for (int i = 0; i < record % 3; ++i) {
      labels.push_back(record + 100 * i);
    }
    std::string& payload = payloads[static_cast<std::size_t>(record)];
    payload += ExtraInt64s("labels", labels);
    if (record != 4) {
      payload += ExtraBytes("name", {"n" + std::to_string(record)});
    }
  }
  return payloads;
}

InputOptions Options() {
  return {.batch_size = 4,
          .preprocess = {.image_size = 16},
          .training = false,
          .shuffle = Shuffle::kNone,
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .fields = {{.key = "labels", .kind = FeatureKind::kInt64},
                     {.key = "name", .kind = FeatureKind::kBytes}},
          .threads = 2};
}

TEST(InputPipelineFieldsTest, FieldsAreInTheBatchSlotBySlot) {
  const TestShards shards(Payloads());
  const std::vector<BatchCopy> batches = Stream(shards.index(), Options(), 3);
  const std::vector<FieldColumn>& first = batches[0].fields;
  ASSERT_EQ(first.size(), 2U);
  EXPECT_THAT(first[0].offsets, ElementsAre(0, 0, 1, 3, 3));
  EXPECT_THAT(first[0].int64s, ElementsAre(1, 2, 102));
  EXPECT_THAT(first[1].offsets, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(first[1].bytes, "n0n1n2n3");
  EXPECT_THAT(batches[1].fields[1].offsets, ElementsAre(0, 0, 1, 2, 3));
  EXPECT_EQ(batches[1].fields[1].bytes, "n5n6n7");
  // Two records and two padding slots.
  EXPECT_THAT(batches[2].fields[0].offsets, ElementsAre(0, 2, 2, 2, 2));
  EXPECT_THAT(batches[2].fields[0].int64s, ElementsAre(8, 108));
}

TEST(InputPipelineFieldsTest, ChangeNothingElse) {
  const TestShards shards(Payloads());
  InputOptions options = Options();
  std::vector<BatchCopy> with = Stream(shards.index(), options, 3);
  options.fields = {};
  const std::vector<BatchCopy> without = Stream(shards.index(), options, 3);
  EXPECT_THAT(without.front().fields, IsEmpty());
  for (BatchCopy& batch : with) {
    batch.fields.clear();
  }
  EXPECT_EQ(with, without);
}

TEST(InputPipelineFieldsTest, FieldsAreFromTheSubstitute) {
  TestShards shards(Payloads());
  shards.Damage(2);
  InputOptions options = Options();
  options.on_bad_record = OnBadRecord::kSkip;
  const BatchCopy skipped = Stream(shards.index(), options, 1).front();
  EXPECT_THAT(skipped.fields[0].offsets, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_EQ(skipped.fields[1].bytes, "n0n1n3");
  options.on_bad_record = OnBadRecord::kReplace;
  const BatchCopy replaced = Stream(shards.index(), options, 1).front();
  const std::int32_t other = replaced.labels[2];
  EXPECT_NE(other, 2);
  EXPECT_EQ(replaced.fields[1].bytes,
            "n0n1" + (other == 4 ? "" : "n" + std::to_string(other)) + "n3");
}

TEST(InputPipelineFieldsTest, AFieldOfAnotherKindOrTooLongMakesTheRecordBad) {
  std::vector<std::string> payloads = Payloads();
  payloads[1] += ExtraFloats("labels", {1});
  const TestShards shards(payloads);
  const auto message = [&](const InputOptions& options) {
    return MessageOf<DataError>(
        [&] { (void)Stream(shards.index(), options, 3); });
  };
  EXPECT_THAT(message(Options()),
              AllOf(HasSubstr("record 1 at byte"),
                    HasSubstr("'labels' holds float, expected int64")));
  InputOptions options = Options();
  options.fields.erase(options.fields.begin());
  options.max_field_bytes = 9;  // The names take 10.
  EXPECT_THAT(message(options), HasSubstr("max_field_bytes"));
  options = Options();
  options.on_bad_record = OnBadRecord::kSkip;
  EXPECT_THAT(Stream(shards.index(), options, 1).front().weights,
              ElementsAre(1, 0, 1, 1));
}

TEST(InputPipelineFieldsTest, AFieldHasAllLabelsOfARecord) {
  std::vector<std::string> payloads = Payloads();
  for (std::string& payload : payloads) {
    payload += ExtraInt64s(kLabelKey, {5, 6});
  }
  const TestShards shards(payloads);
  InputOptions options = Options();
  options.label_offset = 1;
  options.require_labels = false;
  options.fields = {{.key = std::string(kLabelKey)}};
  const BatchCopy batch = Stream(shards.index(), options, 1).front();
  EXPECT_THAT(batch.labels, Each(-1));
  EXPECT_THAT(batch.weights, Each(1));
  EXPECT_THAT(batch.fields[0].int64s, ElementsAre(5, 6, 5, 6, 5, 6, 5, 6));
  options.fields = {};
  options.require_labels = true;
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Stream(shards.index(), options, 1); }),
      HasSubstr("image/class/label has 2 numbers; a label is one"));
}

TEST(InputPipelineFieldsTest, AFieldInNoRecordIsAnError) {
  const TestShards shards(Payloads());
  InputOptions options = Options();
  options.fields.push_back({.key = "lables"});
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Stream(shards.index(), options, 1); }),
      AllOf(HasSubstr("none of 10 records has \"lables\""),
            HasSubstr("image/encoded, ")));
}

}  // namespace input_pipeline_fields_test
}  // namespace infeed
