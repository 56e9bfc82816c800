// Batches of fields of a fixed shape, from records without images.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::fixed_fields_stream_test {

constexpr std::int64_t kRecords = 50;
constexpr std::int64_t kIds = 4;

// Record r has r % 6 ids r, r + 1, ..., the score r / 2 and a name.
std::vector<std::string> Sentences() {
  std::vector<std::string> payloads;
  for (std::int64_t record = 0; record < kRecords; ++record) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(record % 6));
    std::iota(ids.begin(), ids.end(), record);
    payloads.push_back(ExtraInt64s("ids", ids) +
                       ExtraFloats("score", {static_cast<float>(record) / 2}) +
                       ExtraBytes("name", {"n" + std::to_string(record)}));
  }
  return payloads;
}

InputOptions Options() {
  const std::int32_t pad = -7;
  return {
      .batch_size = 8,
      .layout = BatchContent::kNone,
      .seed = 3,
      .on_bad_record = OnBadRecord::kFail,
      .fields = {{.key = "ids",
                  .shape = std::vector<std::int64_t>{kIds},
                  .type = ItemType::kInt32,
                  .pad = {reinterpret_cast<const char*>(&pad), sizeof(pad)}},
                 {.key = "score",
                  .kind = FeatureKind::kFloat,
                  .shape = std::vector<std::int64_t>{},
                  .type = ItemType::kFloat32},
                 {.key = "name", .kind = FeatureKind::kBytes}},
      .threads = 2};
}

template <typename T>
std::vector<T> ItemsOf(const std::vector<std::byte>& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

// What slots of these records hold.
void ExpectRecords(const BatchCopy& batch,
                   const std::vector<std::int64_t>& records) {
  std::vector<std::int32_t> ids;
  std::vector<float> scores;
  std::vector<std::int64_t> lengths;
  std::string names;
  for (const std::int64_t record : records) {
    lengths.push_back(std::min(record % 6, kIds));
    for (std::int64_t i = 0; i < kIds; ++i) {
      ids.push_back(
          static_cast<std::int32_t>(i < record % 6 ? record + i : -7));
    }
    scores.push_back(static_cast<float>(record) / 2);
    names += "n" + std::to_string(record);
  }
  EXPECT_EQ(ItemsOf<std::int32_t>(batch.fixed[0]), ids);
  EXPECT_EQ(batch.lengths[0], lengths);
  EXPECT_EQ(ItemsOf<float>(batch.fixed[1]), scores);
  EXPECT_EQ(batch.fields[2].bytes, names);
}

TEST(FixedFieldsStreamTest, EachSlotHasTheFieldsOfItsRecord) {
  const TestShards shards(Sentences());
  for (const BatchCopy& batch : Stream(shards.index(), Options(), 20)) {
    ExpectRecords(batch, batch.records);
    EXPECT_THAT(batch.pixels, IsEmpty());
    EXPECT_THAT(batch.rgb, IsEmpty());
    EXPECT_THAT(batch.labels, Each(-1));
    EXPECT_THAT(batch.weights, Each(1));
  }
}

TEST(FixedFieldsStreamTest, TheOrderIsThatOfTheSameRecordsWithImages) {
  std::vector<std::string> payloads = Sentences();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    payloads[i] += TestPayload(static_cast<int>(i));
  }
  const TestShards shards(payloads);
  InputOptions options = Options();
  const std::vector<BatchCopy> without = Stream(shards.index(), options, 12);
  options.layout = BatchContent::kPixels;
  options.preprocess.image_size = 8;
  const std::vector<BatchCopy> with = Stream(shards.index(), options, 12);
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].records, without[i].records);
    EXPECT_EQ(with[i].fixed, without[i].fixed);
    EXPECT_EQ(with[i].lengths, without[i].lengths);
    EXPECT_EQ(with[i].fields, without[i].fields);
    EXPECT_EQ(with[i].next, without[i].next);
  }
}

TEST(FixedFieldsStreamTest, ASkippedRecordAndPaddingSlotsHavePadding) {
  TestShards shards(Sentences());
  shards.Damage(2);
  InputOptions options = Options();
  options.training = false;
  options.on_bad_record = OnBadRecord::kSkip;
  const std::vector<BatchCopy> batches = Stream(shards.index(), options, 7);
  EXPECT_THAT(batches[0].weights, ElementsAre(1, 1, 0, 1, 1, 1, 1, 1));
  EXPECT_EQ(batches[0].lengths[0][2], 0);
  const std::vector<std::int32_t> ids =
      ItemsOf<std::int32_t>(batches[0].fixed[0]);
  EXPECT_EQ(std::vector<std::int32_t>(ids.begin() + 8, ids.begin() + 12),
            std::vector<std::int32_t>(kIds, -7));
  EXPECT_EQ(ItemsOf<float>(batches[0].fixed[1])[2], 0);
  // Two records and six padding slots.
  EXPECT_THAT(batches[6].lengths[0], ElementsAre(0, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(ItemsOf<float>(batches[6].fixed[1]),
              ElementsAre(24, 24.5F, 0, 0, 0, 0, 0, 0));
}

TEST(FixedFieldsStreamTest, ASubstituteBringsItsOwnFields) {
  std::vector<std::string> payloads = Sentences();
  payloads[5] += ExtraFloats("score", {1, 2});
  const TestShards shards(payloads);
  InputOptions options = Options();
  options.on_bad_record = OnBadRecord::kReplace;
  InputPipeline pipeline(shards.index(), options);
  for (const BatchCopy& batch : TakeBatches(pipeline, 12)) {
    ExpectRecords(batch, batch.records);
  }
  EXPECT_THAT(pipeline.stats().first_bad_record,
              HasSubstr("'score' has 2 values, expected 1"));
}

TEST(FixedFieldsStreamTest, ALabelIsReadOnlyUnderAKeyThatIsGiven) {
  std::vector<std::string> payloads = Sentences();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    payloads[i] += ExtraInt64s("target", {static_cast<std::int64_t>(i % 2)});
  }
  const TestShards shards(payloads);
  InputOptions options = Options();
  options.training = false;
  options.label_key = "target";
  EXPECT_THAT(Stream(shards.index(), options, 1).front().labels,
              ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(FixedFieldsStreamTest, FieldsOfTarsAreTheirMembers) {
  const TemporaryFolder folder;
  const std::string path = folder / "captions-000.tar";
  WriteFileAtomically(path, TarFile()
                                .Add("a.txt", "first")
                                .Add("a.json", "[1]")
                                .Add("b.txt", "second")
                                .Add("b.json", "[2]")
                                .End()
                                .text());
  InputOptions options = Options();
  options.batch_size = 2;
  options.training = false;
  options.fields = {{.key = "txt",
                     .kind = FeatureKind::kBytes,
                     .shape = std::vector<std::int64_t>{}},
                    {.key = "json", .kind = FeatureKind::kBytes}};
  const BatchCopy batch = Stream(RecordIndex({path}), options, 1).front();
  EXPECT_EQ(batch.fields[0].bytes, "firstsecond");
  EXPECT_EQ(batch.fields[1].bytes, "[1][2]");
}

TEST(FixedFieldsStreamTest, LabelsOfTarsAreReadUnderTheStandardKey) {
  const TemporaryFolder folder;
  const std::string path = folder / "texts-000.tar";
  WriteFileAtomically(path, TarFile()
                                .Add("a.txt", "first")
                                .Add("a.cls", "3")
                                .Add("b.txt", "second")
                                .Add("b.json", R"({"label": 5})")
                                .Add("c.txt", "third")
                                .Add("c.cls", "cat")
                                .End()
                                .text());
  const RecordIndex index({path});
  InputOptions options = Options();
  options.batch_size = 3;
  options.training = false;
  options.fields = {{.key = "txt", .kind = FeatureKind::kBytes}};
  options.wants_labels = true;
  options.on_bad_record = OnBadRecord::kSkip;
  InputPipeline pipeline(index, options);
  const BatchCopy batch = TakeBatches(pipeline, 1).front();
  EXPECT_THAT(batch.labels, ElementsAre(3, 5, -1));
  EXPECT_THAT(batch.weights, ElementsAre(1, 1, 0));
  EXPECT_THAT(pipeline.stats().first_bad_record,
              HasSubstr("its .cls is the text \"cat\", not a whole number"));
  options.label_key = "cls";
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Stream(index, options, 1); }),
              HasSubstr("give label_key=image/class/label"));
}

// As with images, whose keys are not searched for here.
TEST(FixedFieldsStreamTest, TheStandardLabelKeyIsReplacedByTheRecordsOwn) {
  const std::string jpeg = TestJpeg();
  const TestShards shards(std::vector<std::string>(
      8, ExtraBytes("photo", {jpeg}) + ExtraBytes("mask", {jpeg}) +
             ExtraInt64s("class", {4})));
  InputOptions options = Options();
  options.fields.clear();
  options.wants_labels = true;
  EXPECT_THAT(Stream(shards.index(), options, 1).front().labels, Each(3));
  options.label_key = "class";
  EXPECT_THAT(Stream(shards.index(), options, 1).front().labels, Each(3));
}

TEST(FixedFieldsStreamTest, AWrongFieldIsReportedBeforeAnythingIsAllocated) {
  const TestShards shards(Sentences());
  InputOptions options = Options();
  options.fields[0].shape = std::vector<std::int64_t>{1 << 20, 1 << 20};
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Stream(shards.index(), options, 1); }),
      HasSubstr("'ids': a shape must have 1 to 2^28 values"));
  options.fields[0].shape = std::vector<std::int64_t>{1 << 27};
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Stream(shards.index(), options, 1); }),
      AllOf(HasSubstr("memory_limit is 4.0 GiB"),
            HasSubstr("batches 12.0 GiB")));
}

}  // namespace infeed::fixed_fields_stream_test
