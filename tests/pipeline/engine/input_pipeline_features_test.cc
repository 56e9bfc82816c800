// Records' features through the whole pipeline: images and labels under any
// key, labels of no class, and fields beside them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/stream_state.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_source.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_features_test {

using ::testing::Ge;
using ::testing::Le;

// What a stream of these options says in place of a batch.
template <typename Error = DataError>
std::string StreamError(const TestShards& shards, const InputOptions& options) {
  return MessageOf<Error>([&] { (void)Stream(shards.index(), options, 9); });
}

// Why a stream of these options does not go on from a state.
std::string ResumeError(const std::string& state, const TestShards& shards,
                        const InputOptions& options) {
  return MessageOf<UsageError>(
      [&] { (void)ResumePosition(state, shards.index(), options); });
}

// Records of these labels, as they stand in the records.
std::vector<std::string> LabelPayloads(
    const std::vector<std::int64_t>& labels) {
  std::vector<std::string> payloads;
  const std::string jpeg = TestJpeg({.width = 24, .height = 24});
  for (const std::int64_t label : labels) {
    payloads.push_back(PayloadWithImage(jpeg, label - 1));
  }
  return payloads;
}

InputOptions Evaluation(OnBadRecord policy = OnBadRecord::kSkip) {
  InputOptions options = SmallEvaluation();
  options.on_bad_record = policy;
  return options;
}

TEST(InputPipelineLabelsTest, SkipsLabelsOfNoClass) {
  // Missing, below none (the offset is 0), and one beyond four classes.
  const TestShards shards(LabelPayloads({0, -1, 3, 4, -7, 1, 2, 3}));
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
  const TestShards shards(LabelPayloads({1, 0, 2, 3, 3, 1, 2, 3}));
  InputOptions options = Evaluation(OnBadRecord::kReplace);
  options.label_offset = 1;
  options.bad_record_report = folder / "bad";
  for (const BatchCopy& batch : Stream(shards.index(), options, 9)) {
    EXPECT_THAT(batch.weights, Each(1.0F));
    EXPECT_THAT(batch.labels, Each(AllOf(Ge(0), Le(2))));
  }
  EXPECT_THAT(ReadWholeFile(folder / "bad", 1 << 20),
              AllOf(HasSubstr(R"("kind":"label","action":"replaced")"),
                    HasSubstr("image/class/label 0 is below 1")));
}

TEST(InputPipelineLabelsTest, PolicyAndBudgetApplyToBadLabels) {
  const TestShards shards(LabelPayloads({0, 1, 2, 3, 4, -1, 2, 3}));
  InputOptions options = Evaluation(OnBadRecord::kFail);
  EXPECT_THAT(StreamError(shards, options), HasSubstr("there is no label"));
  options.num_label_classes = 4;
  EXPECT_THAT(StreamError(shards, options),
              HasSubstr("class 4 is beyond the last of 4 classes"));
  options.on_bad_record = OnBadRecord::kSkip;
  options.max_bad_records = 1;
  EXPECT_THAT(StreamError(shards, options),
              HasSubstr("it is bad record number 2"));
}

TEST(InputPipelineLabelsTest, MissingLabelsAreUsedWhereNoneIsRequired) {
  const TestShards shards(LabelPayloads({-1, -1, -1, -1}));
  InputOptions options = Evaluation(OnBadRecord::kFail);
  options.require_labels = false;
  const std::vector<BatchCopy> batches = Stream(shards.index(), options, 9);
  EXPECT_THAT(LabelsOf(batches), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(batches[0].weights, Each(1.0F));
}

TEST(InputPipelineLabelsTest, NoneIsReadBesideFieldsWhereNoRecordHasOne) {
  const std::string jpeg = TestJpeg({.width = 24, .height = 24});
  const std::vector<ExampleFeature> features = {
      {kImageKey, std::vector<std::string_view>{jpeg}},
      {"length", std::vector<std::int64_t>{7}}};
  std::vector<std::string> payloads(4, BuildExample(features));
  InputOptions options = Evaluation(OnBadRecord::kFail);
  EXPECT_THAT(StreamError(TestShards(payloads), options),
              HasSubstr("there is no label"));
  options.fields = {{.key = "length"}};
  const TestShards none(payloads);
  const InputOptions resolved = ResolvedOptions(options, none.index());
  EXPECT_FALSE(ReadsLabels(resolved));
  for (const InputOptions& given : {options, resolved}) {
    const std::vector<BatchCopy> batches = Stream(none.index(), given, 9);
    EXPECT_THAT(LabelsOf(batches), ElementsAre(-1, -1, -1, -1));
    EXPECT_THAT(batches[0].weights, Each(1.0F));
  }
  options.objects = ObjectsPreset("tf");  // Reads no label anyway.
  EXPECT_EQ(WithFoundKeys(options, none.index()).label_key, kLabelKey);
  options.wants_labels = true;
  EXPECT_TRUE(ReadsLabels(WithFoundKeys(options, none.index())));
  options.objects = {};
  EXPECT_TRUE(ReadsLabels(WithFoundKeys(options, none.index())));
  options.wants_labels = false;
  payloads[3] += ExtraInt64s(kLabelKey, {5});
  EXPECT_THAT(StreamError(TestShards(payloads), options),
              HasSubstr("there is no label"));
}

// Numbers to predict, or several labels: the fields have them.
TEST(InputPipelineLabelsTest, NoneIsReadWhereAFieldIsTheTarget) {
  const std::string jpeg = TestJpeg({.width = 24, .height = 24});
  const auto resolved = [&](const ExampleFeature& target, FieldSpec field,
                            bool wants_labels) {
    const std::vector<ExampleFeature> features = {
        {kImageKey, std::vector<std::string_view>{jpeg}}, target};
    const TestShards shards(
        std::vector<std::string>(4, BuildExample(features)));
    InputOptions options = Evaluation(OnBadRecord::kFail);
    field.key = target.key;
    options.fields = {field};
    options.wants_labels = wants_labels;
    if (!wants_labels) {
      const std::vector<BatchCopy> batches = Stream(shards.index(), options, 9);
      EXPECT_THAT(batches[0].weights, Each(1.0F));
    }
    return ReadsLabels(ResolvedOptions(options, shards.index()));
  };
  const ExampleFeature age = {"target", std::vector<float>{20.5}};
  EXPECT_FALSE(resolved(age, {.key = "", .kind = FeatureKind::kFloat}, false));
  const ExampleFeature two = {kLabelKey, std::vector<std::int64_t>{1, 2}};
  EXPECT_FALSE(resolved(two, {}, false));
  EXPECT_FALSE(resolved(two, {.key = "", .shape = {{2}}}, false));
  EXPECT_TRUE(resolved(two, {}, true));
  const ExampleFeature one = {kLabelKey, std::vector<std::int64_t>{1}};
  EXPECT_TRUE(resolved(one, {.key = "", .shape = {{}}}, false));
}

TEST(InputPipelineLabelsTest, LabelsOfPackedRecordsAreTreatedAlike) {
  const TestShards shards({PackedPayload(-1, 16), PackedPayload(0, 16),
                           PackedPayload(-2, 16), PackedPayload(1, 16)});
  InputOptions options = Evaluation();
  options.preprocess.recipe = Recipe::kPlain;
  EXPECT_THAT(LabelsOf(Stream(shards.index(), options, 9)),
              ElementsAre(0, 1, -1, 2));
}

TEST(InputPipelineLabelsTest, TheStreamsStateKeepsTheLabelOffset) {
  const TestShards shards(LabelPayloads({0, 1, 2, 3, 0, 1, 2, 3}));
  InputPipeline pipeline(shards.index(), Evaluation());
  (void)pipeline.Next();
  const std::string state = pipeline.State();
  EXPECT_THAT(state, HasSubstr("\"label_offset\": 0"));
  EXPECT_EQ(ResumePosition(state, shards.index(), Evaluation()).position, 4);
  InputOptions other = Evaluation();
  other.label_offset = 1;
  EXPECT_THAT(ResumeError(state, shards, other),
              HasSubstr("label_offset is 1 here, 0 in the state"));
}

// Record r has r % 3 labels r, r + 100, ... and a name; record 4 has no name.
std::vector<std::string> FieldPayloads() {
  std::vector<std::string> payloads = TestPayloads(10);
  for (int record = 0; record < 10; ++record) {
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

InputOptions WithFields() {
  InputOptions options = SmallEvaluation();
  options.fields = {{.key = "labels", .kind = FeatureKind::kInt64},
                    {.key = "name", .kind = FeatureKind::kBytes}};
  return options;
}

TEST(InputPipelineFieldsTest, FieldsAreInTheBatchSlotBySlot) {
  const TestShards shards(FieldPayloads());
  const std::vector<BatchCopy> batches =
      Stream(shards.index(), WithFields(), 3);
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

TEST(InputPipelineFieldsTest, FieldsChangeNothingElse) {
  const TestShards shards(FieldPayloads());
  InputOptions options = WithFields();
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
  TestShards shards(FieldPayloads());
  shards.Damage(2);
  InputOptions options = WithFields();
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
  std::vector<std::string> payloads = FieldPayloads();
  payloads[1] += ExtraFloats("labels", {1});
  const TestShards shards(payloads);
  EXPECT_THAT(StreamError(shards, WithFields()),
              AllOf(HasSubstr("record 1 at byte"),
                    HasSubstr("'labels' holds float, expected int64")));
  InputOptions options = WithFields();
  options.fields.erase(options.fields.begin());
  options.max_field_bytes = 9;  // The names take 10.
  EXPECT_THAT(StreamError(shards, options), HasSubstr("max_field_bytes"));
  options = WithFields();
  options.on_bad_record = OnBadRecord::kSkip;
  EXPECT_THAT(Stream(shards.index(), options, 1).front().weights,
              ElementsAre(1, 0, 1, 1));
}

TEST(InputPipelineFieldsTest, AFieldHasAllLabelsOfARecord) {
  std::vector<std::string> payloads = FieldPayloads();
  for (std::string& payload : payloads) {
    payload += ExtraInt64s(kLabelKey, {5, 6});
  }
  const TestShards shards(payloads);
  InputOptions options = WithFields();
  options.label_offset = 1;
  options.require_labels = false;
  options.fields = {{.key = std::string(kLabelKey)}};
  const BatchCopy batch = Stream(shards.index(), options, 1).front();
  EXPECT_THAT(batch.labels, Each(-1));
  EXPECT_THAT(batch.weights, Each(1));
  EXPECT_THAT(batch.fields[0].int64s, ElementsAre(5, 6, 5, 6, 5, 6, 5, 6));
  options.fields = {};
  options.require_labels = true;
  EXPECT_THAT(StreamError(shards, options),
              HasSubstr("image/class/label has 2 numbers; a label is one"));
}

TEST(InputPipelineFieldsTest, AFieldInNoRecordIsAnError) {
  const TestShards shards(FieldPayloads());
  InputOptions options = WithFields();
  options.fields.push_back({.key = "lables"});
  EXPECT_THAT(StreamError<UsageError>(shards, options),
              AllOf(HasSubstr("none of 10 records has \"lables\""),
                    HasSubstr("image/encoded, ")));
}

constexpr int kRecords = 8;

std::string JpegOf(int record) {
  return TestJpeg({.width = 40 + record,
                   .height = 30,
                   .seed = static_cast<std::uint64_t>(record) + 1});
}

std::vector<std::string> TfdsPayloads() {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(ExtraBytes("image", {JpegOf(record)}) +
                       ExtraInt64s("label", {record % 4}));
  }
  return payloads;
}

// Equal images and classes under the standard keys, with labels from 1.
std::vector<std::string> StandardPayloads() {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(PayloadWithImage(JpegOf(record), record % 4));
  }
  return payloads;
}

InputOptions TfdsOptions() {
  InputOptions options = SmallTraining();
  options.image_key = "image";
  options.label_key = "label";
  return options;
}

TEST(InputPipelineKeysTest, OtherKeysGiveTheSameBatchesGivenOrFound) {
  const TestShards tfds(TfdsPayloads());
  const TestShards standard(StandardPayloads());
  const std::vector<BatchCopy> expected =
      Stream(standard.index(), SmallTraining(), 6);
  EXPECT_EQ(Stream(tfds.index(), TfdsOptions(), 6), expected);
  EXPECT_EQ(Stream(tfds.index(), SmallTraining(), 6), expected);
  EXPECT_EQ(KeysNote(SmallTraining(), tfds.index()),
            "keys: found in the records: image_key=image label_key=label");
  EXPECT_EQ(KeysNote(TfdsOptions(), tfds.index()), "");
}

TEST(InputPipelineKeysTest, AnErrorNamesTheKeysOfTheRecords) {
  const TestShards shards(TfdsPayloads());
  InputOptions wrong = SmallTraining();
  wrong.image_key = "photo";
  EXPECT_THAT(StreamError(shards, wrong),
              HasSubstr("no photo; it has image, label: give image_key"));
  const TestShards empty({""});
  InputOptions one = SmallTraining();
  one.batch_size = 1;
  EXPECT_THAT(StreamError(empty, one),
              HasSubstr("no image/encoded: it has no features"));
}

TEST(InputPipelineKeysTest, ALabelErrorNamesTheKey) {
  const TestShards shards(TfdsPayloads());
  InputOptions options = TfdsOptions();
  options.num_label_classes = 3;
  EXPECT_THAT(StreamError(shards, options),
              HasSubstr("class 3 is beyond the last of 3 classes, 2 (label 3"));
  for (const bool training : {false, true}) {
    options.training = training;
    options.label_key = "lable";
    EXPECT_THAT(
        MessageOf<UsageError>([&] { InputPipeline(shards.index(), options); }),
        AllOf(HasSubstr("records has \"lable\"; they have image, label")));
    options.require_labels = false;
    EXPECT_FALSE(Stream(shards.index(), options, 1).empty());
    options.require_labels = true;
  }
}

TEST(InputPipelineKeysTest, TheStateHasTheKeysThatAreUsed) {
  const TestShards tfds(TfdsPayloads());
  InputPipeline pipeline(tfds.index(), TfdsOptions());
  const std::string state = pipeline.State();
  EXPECT_THAT(state, AllOf(HasSubstr(R"("image_key": "image")"),
                           HasSubstr(R"("label_key": "label")")));
  EXPECT_EQ(ResumePosition(state, tfds.index(), TfdsOptions()).position, 0);
  EXPECT_EQ(ResumePosition(state, tfds.index(), SmallTraining()).position, 0);
  InputOptions other = SmallTraining();
  other.image_key = "photo";
  EXPECT_THAT(ResumeError(state, tfds, other),
              HasSubstr("image_key is \"photo\""));
  const TestShards usual(StandardPayloads());
  EXPECT_THAT(InputPipeline(usual.index(), SmallTraining()).State(),
              HasSubstr(R"("image_key": "image/encoded")"));
}

TEST(InputPipelineKeysTest, ImageFilesNeedNoKeys) {
  const TemporaryFolder folder;
  std::vector<LabelledImage> images;
  for (int record = 0; record < 4; ++record) {
    const std::string path = folder / (std::to_string(record) + ".jpg");
    WriteFileAtomically(path, JpegOf(record));
    images.push_back({.path = path, .label = record + 1});
  }
  const RecordIndex index = RecordIndex::OfImages(images);
  EXPECT_EQ(Stream(index, TfdsOptions(), 2), Stream(index, SmallTraining(), 2));
  EXPECT_EQ(InputPipeline(index, TfdsOptions()).State(),
            InputPipeline(index, SmallTraining()).State());
}

TEST(InputPipelineKeysTest, EachImageKeyHasItsOwnSeekFiles) {
  const TestShards shards(TfdsPayloads(), 1);
  const FileSource shard(shards.index().shards().front());
  SeekFileWriter writer(shard, 0, "image");
  for (int record = 0; record < kRecords; ++record) {
    const std::string jpeg = JpegOf(record);
    writer.Append(SealSeekIndex(
        SerializeSeekIndex(MakeSeekIndex(AsBytes(jpeg), 0).value()),
        AsBytes(jpeg)));
  }
  writer.Close();
  InputPipeline pipeline(shards.index(), TfdsOptions());
  const std::vector<BatchCopy> with = TakeBatches(pipeline, 2);
  EXPECT_GE(pipeline.stats().seek_indexes.used, kRecords);
  std::filesystem::remove(writer.path());
  EXPECT_EQ(with, Stream(shards.index(), TfdsOptions(), 2));
  EXPECT_EQ(SeekFile::Find(shard.path(), shard.size()), nullptr);
}

}  // namespace infeed::input_pipeline_features_test
