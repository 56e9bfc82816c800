// Records with keys other than the standard ones, as TensorFlow Datasets writes
// them: image, label from 0, and no more.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/stream_state.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_source.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_keys_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

InputOptions Options(OnBadRecord policy = OnBadRecord::kFail) {
  return {.batch_size = 4,
          .preprocess = {.image_size = 16},
          .seed = 7,
          .on_bad_record = policy,
          .threads = 2};
}

InputOptions TfdsOptions() {
  InputOptions options = Options();
  options.image_key = "image";
  options.label_key = "label";
  return options;
}

TEST(InputPipelineKeysTest, OtherKeysGiveTheBatchesOfTheStandardKeys) {
  const TestShards tfds(TfdsPayloads());
  const TestShards standard(StandardPayloads());
  EXPECT_EQ(Stream(tfds.index(), TfdsOptions(), 6),
            Stream(standard.index(), Options(), 6));
}

TEST(InputPipelineKeysTest, KeysAreFoundInTheRecords) {
  const TestShards tfds(TfdsPayloads());
  EXPECT_EQ(Stream(tfds.index(), Options(), 6),
            Stream(tfds.index(), TfdsOptions(), 6));
  EXPECT_EQ(KeysNote(Options(), tfds.index()),
            "keys: found in the records: image_key=image label_key=label");
  EXPECT_EQ(KeysNote(TfdsOptions(), tfds.index()), "");
}

TEST(InputPipelineKeysTest, AnErrorNamesTheKeysOfTheRecords) {
  const TestShards shards(TfdsPayloads());
  InputOptions wrong = Options();
  wrong.image_key = "photo";
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Stream(shards.index(), wrong, 1); }),
      HasSubstr("no photo; it has image, label: give image_key"));
  const TestShards empty({""});
  InputOptions one = Options();
  one.batch_size = 1;
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Stream(empty.index(), one, 1); }),
      HasSubstr("no image/encoded: it has no features"));
}

TEST(InputPipelineKeysTest, ALabelErrorNamesTheKey) {
  const TestShards shards(TfdsPayloads());
  InputOptions options = TfdsOptions();
  options.num_label_classes = 3;
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Stream(shards.index(), options, 2); }),
      HasSubstr("label 3 is beyond the last of 3 classes"));
  options.label_key = "class";
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Stream(shards.index(), options, 2); }),
      HasSubstr("there is no label: no class"));
}

TEST(InputPipelineKeysTest, AnEmptyKeyIsRefused) {
  const TestShards shards(TfdsPayloads());
  InputOptions options = TfdsOptions();
  options.label_key = "";
  EXPECT_EQ(MessageOf<UsageError>([&] { (void)CheckedInputOptions(options); }),
            "label_key is empty: give a key of the records");
}

TEST(InputPipelineKeysTest, TheStateHasTheKeysThatAreUsed) {
  const TestShards tfds(TfdsPayloads());
  InputPipeline pipeline(tfds.index(), TfdsOptions());
  const std::string state = pipeline.State();
  EXPECT_THAT(state, AllOf(HasSubstr(R"("image_key": "image")"),
                           HasSubstr(R"("label_key": "label")")));
  EXPECT_EQ(ResumePosition(state, tfds.index(), TfdsOptions()).position, 0);
  EXPECT_EQ(ResumePosition(state, tfds.index(), Options()).position, 0);
  InputOptions other = Options();
  other.image_key = "photo";
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)ResumePosition(state, tfds.index(), other); }),
              HasSubstr("image_key is \"photo\""));
  const TestShards usual(StandardPayloads());
  EXPECT_THAT(InputPipeline(usual.index(), Options()).State(),
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
  EXPECT_EQ(Stream(index, TfdsOptions(), 2), Stream(index, Options(), 2));
  EXPECT_EQ(InputPipeline(index, TfdsOptions()).State(),
            InputPipeline(index, Options()).State());
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

}  // namespace input_pipeline_keys_test
}  // namespace infeed
