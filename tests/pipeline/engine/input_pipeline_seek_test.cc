#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_seek_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRecords = 6;
const InputOptions kOptions{
    .batch_size = 3, .image_size = 16, .seed = 5, .threads = 2};

std::string JpegOf(int record) {
  return TestJpeg(
      {.width = 90 + record,
       .height = 70,
       .subsampling = record % 2 == 0 ? Subsampling::k420 : Subsampling::k444,
       .seed = static_cast<std::uint64_t>(record) + 1});
}

std::string SealedOf(int record) {
  const std::string jpeg = JpegOf(record);
  return SealSeekIndex(
      SerializeSeekIndex(MakeSeekIndex(AsBytes(jpeg), 4).value()),
      AsBytes(jpeg));
}

// Records with the given seek indexes in their Examples.
TestShards ShardsWith(const std::vector<std::string>& seek_indexes) {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    const std::string jpeg = JpegOf(record);
    ImagenetExample example;
    example.label = record + 1;
    example.encoded = jpeg;
    example.seek_index = seek_indexes[static_cast<std::size_t>(record)];
    payloads.push_back(BuildImagenetExample(example));
  }
  return TestShards(payloads);
}

std::vector<std::string> AllSealed() {
  std::vector<std::string> sealed;
  for (int record = 0; record < kRecords; ++record) {
    sealed.push_back(SealedOf(record));
  }
  return sealed;
}

struct Outcome {
  std::vector<BatchCopy> batches;
  PipelineStats stats;
};

// One epoch in order, nothing random but the crops.
Outcome RunOver(const TestShards& shards, InputOptions options = kOptions) {
  options.shuffle = Shuffle::kNone;
  InputPipeline pipeline(shards.index(), options);
  Outcome run;
  run.batches = TakeBatches(pipeline, kRecords / options.batch_size);
  pipeline.Stop();
  run.stats = pipeline.stats();
  return run;
}

// The batches without any index.
std::vector<BatchCopy> Truth() {
  return RunOver(ShardsWith(std::vector<std::string>(kRecords))).batches;
}

TEST(InputPipelineSeekTest, UsesTheIndexesInExamples) {
  const Outcome run = RunOver(ShardsWith(AllSealed()));
  EXPECT_GE(run.stats.seek_indexes.used, kRecords);
  EXPECT_EQ(run.stats.seek_indexes.refused, 0);
  EXPECT_EQ(run.stats.seek_indexes.none, 0);
  EXPECT_EQ(run.batches, Truth());
}

TEST(InputPipelineSeekTest, DecodeLessBesideTheCrops) {
  InputOptions options = kOptions;
  options.training = false;  // One epoch: each record once
  const TestShards shards = ShardsWith(AllSealed());
  const std::int64_t with = RunOver(shards, options).stats.outside_pixels;
  options.use_seek_indexes = false;
  const std::int64_t without = RunOver(shards, options).stats.outside_pixels;
  EXPECT_GT(with, 0);
  EXPECT_GT(without, with);
}

TEST(InputPipelineSeekTest, TakesThemWithoutTheRecordsChecksumToo) {
  InputOptions options = kOptions;
  options.verify_checksums = false;
  const Outcome run = RunOver(ShardsWith(AllSealed()), options);
  EXPECT_GE(run.stats.seek_indexes.used, kRecords);
  EXPECT_EQ(run.batches, Truth());
}

TEST(InputPipelineSeekTest, DecodesWithoutAnIndexThatIsWrongAndSaysWhich) {
  std::vector<std::string> sealed = AllSealed();
  sealed[1] = SealedOf(2);  // Of another record
  sealed[4].pop_back();
  sealed[5] = SealSeekIndex("no body", AsBytes(JpegOf(5)));
  InputOptions options = kOptions;
  options.training = false;  // One epoch: each record once
  const TestShards shards = ShardsWith(sealed);
  const Outcome run = RunOver(shards, options);
  const SeekIndexStats& stats = run.stats.seek_indexes;
  EXPECT_EQ(stats.used, 3);
  EXPECT_EQ(stats.refused, 3);
  EXPECT_EQ(stats.none, 0);
  EXPECT_THAT(stats.first_refused,
              AllOf(HasSubstr(shards.index().shards()[0]),
                    HasSubstr("record 1 at byte "),
                    HasSubstr("the seek index does not belong to the JPEG")));
  EXPECT_EQ(run.stats.bad_records, 0);
  options.use_seek_indexes = false;
  const Outcome without = RunOver(shards, options);
  EXPECT_EQ(run.batches, without.batches);
  EXPECT_EQ(without.stats.seek_indexes.none, kRecords);
}

TEST(InputPipelineSeekTest, CountsAnIndexThatLeadsElsewhere) {
  JpegSeekIndex index = MakeSeekIndex(AsBytes(JpegOf(0)), 4).value();
  for (SeekEntry& entry : index.entries) {
    entry.dc[0] = static_cast<std::int16_t>(entry.dc[0] + 1);
    entry.bit ^= 1;
  }
  std::vector<std::string> sealed(kRecords);
  sealed[0] = SealSeekIndex(SerializeSeekIndex(index), AsBytes(JpegOf(0)));
  InputOptions options = kOptions;
  options.training = false;
  const Outcome run = RunOver(ShardsWith(sealed), options);
  EXPECT_EQ(run.stats.seek_indexes.refused, 1);
  EXPECT_EQ(run.stats.seek_indexes.none, kRecords - 1);
  EXPECT_THAT(run.stats.seek_indexes.first_refused,
              HasSubstr("the seek index is not what the JPEG's scan says"));
  EXPECT_EQ(
      run.batches,
      RunOver(ShardsWith(std::vector<std::string>(kRecords)), options).batches);
}

TEST(InputPipelineSeekTest, UsesTheFileBesideAShardWhereRecordsHaveNone) {
  std::vector<std::string> own(kRecords);
  own[0] = SealedOf(0);
  const TestShards shards = ShardsWith(own);
  // Of the first shard alone; its record 0 has one that would be refused.
  SeekFileWriter writer(FileSource(shards.index().shards()[0]), 4);
  writer.Append("wrong");
  writer.Append(SealedOf(1));
  writer.Append("");
  writer.Close();
  InputOptions options = kOptions;
  options.training = false;
  const Outcome run = RunOver(shards, options);
  EXPECT_EQ(run.stats.seek_indexes.used, 2);
  EXPECT_EQ(run.stats.seek_indexes.refused, 0);
  EXPECT_EQ(run.stats.seek_indexes.none, kRecords - 2);
}

TEST(InputPipelineSeekTest, KeepsWhatLiesBesideAShardInTheCache) {
  const TestShards shards = ShardsWith(std::vector<std::string>(kRecords));
  SeekFileWriter writer(FileSource(shards.index().shards()[0]), 4);
  for (int record = 0; record < kRecords / 2; ++record) {
    writer.Append(SealedOf(record));
  }
  writer.Close();
  InputOptions options = kOptions;
  options.on_bad_record = OnBadRecord::kFail;
  options.use_cache = true;
  options.graph = GraphKind::kBasic;  // Nothing is read ahead.
  InputPipeline pipeline(shards.index(), options);
  (void)TakeBatches(pipeline, kRecords / options.batch_size);
  EXPECT_EQ(pipeline.stats().seek_indexes.used, kRecords / 2);
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(shards.folder())) {
    if (file.is_regular_file()) {
      std::filesystem::resize_file(file.path(), 0);
    }
  }
  (void)TakeBatches(pipeline, kRecords / options.batch_size);
  EXPECT_EQ(pipeline.stats().seek_indexes.used, kRecords);
  EXPECT_EQ(pipeline.stats().seek_indexes.refused, 0);
}

}  // namespace input_pipeline_seek_test
}  // namespace infeed
