#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/test_jpeg.h"

namespace infeed::input_pipeline_seek_test {

constexpr int kRecords = 6;
const InputOptions kOptions{
    .batch_size = 3, .preprocess = {.image_size = 16}, .seed = 5, .threads = 2};

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
  for (const bool verify : {true, false}) {
    InputOptions options = kOptions;
    options.verify_checksums = verify;
    const Outcome run = RunOver(ShardsWith(AllSealed()), options);
    EXPECT_GE(run.stats.seek_indexes.used, kRecords);
    EXPECT_EQ(run.stats.seek_indexes.refused, 0);
    EXPECT_EQ(run.stats.seek_indexes.none, 0);
    EXPECT_EQ(run.batches, Truth());
  }
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
  options.seek_index = SeekIndexes::kOff;
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
  // Only the first shard has a file; its index for record 0 would be refused.
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
  options.seek_index = SeekIndexes::kRead;
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

// With its side files, unlike TestShards::index().
RecordIndex IndexWithFiles(const TestShards& shards) {
  return RecordIndex(shards.index().shards());
}

// Batches of several epochs of random crops.
Outcome RunEpochs(const TestShards& shards, SeekIndexes seek_index,
                  int epochs) {
  InputOptions options = kOptions;
  options.seek_index = seek_index;
  options.repeat = epochs;
  const RecordIndex index = IndexWithFiles(shards);
  InputPipeline pipeline(index, options);
  Outcome run;
  run.batches = TakeBatches(pipeline, epochs * kRecords / options.batch_size);
  pipeline.Stop();
  run.stats = pipeline.stats();
  return run;
}

TEST(InputPipelineSeekTest, FindsIndexesWhileDecodingForLaterEpochsAndRuns) {
  const TestShards shards = ShardsWith(std::vector<std::string>(kRecords));
  const Outcome without = RunEpochs(shards, SeekIndexes::kOff, 6);
  const Outcome first = RunEpochs(shards, SeekIndexes::kAuto, 6);
  EXPECT_EQ(first.batches, without.batches);
  const SeekIndexStats& stats = first.stats.seek_indexes;
  EXPECT_GE(stats.none, kRecords);
  EXPECT_GE(stats.found, kRecords);
  EXPECT_EQ(stats.refused, 0);
  EXPECT_GT(stats.rows, stats.covered_rows);
  EXPECT_EQ(stats.write_error, "");
  // A later run begins with what this one found.
  const Outcome later = RunEpochs(shards, SeekIndexes::kRead, 6);
  EXPECT_EQ(later.batches, without.batches);
  EXPECT_EQ(later.stats.seek_indexes.none, 0);
  EXPECT_EQ(later.stats.seek_indexes.refused, 0);
  EXPECT_LT(later.stats.outside_pixels, without.stats.outside_pixels);
}

// An index of another JPEG gives way, although it is longer.
TEST(InputPipelineSeekTest, ReplacesAWrongIndexBesideTheShard) {
  const TestShards shards = ShardsWith(std::vector<std::string>(kRecords));
  SeekFileWriter writer(FileSource(shards.index().shards()[0]), 1);
  for (int record = 0; record < kRecords / 2; ++record) {
    writer.Append(SealedOf(record + 1) + std::string(500, 'x'));
  }
  writer.Close();
  const Outcome first = RunEpochs(shards, SeekIndexes::kAuto, 1);
  EXPECT_EQ(first.stats.seek_indexes.refused, kRecords / 2);
  const Outcome later = RunEpochs(shards, SeekIndexes::kRead, 1);
  EXPECT_EQ(later.stats.seek_indexes.refused, 0);
  EXPECT_EQ(later.stats.seek_indexes.used, kRecords);
  EXPECT_EQ(later.batches, first.batches);
}

std::int64_t ReadyBatches(const InputPipeline& pipeline) {
  for (const QueueStats& queue : pipeline.stats().queues) {
    if (queue.name == "ready") {
      return queue.depth;
    }
  }
  return -1;
}

// While batches wait for the consumer, whole indexes are made.
TEST(InputPipelineSeekTest, CompletesIndexesInSpareTime) {
  const TestShards shards = ShardsWith(std::vector<std::string>(kRecords));
  InputOptions options = kOptions;
  options.batches_in_pool = 6;
  {
    const RecordIndex index = IndexWithFiles(shards);
    InputPipeline pipeline(index, options);
    for (int batch = 0; batch < 40; ++batch) {
      while (ReadyBatches(pipeline) < 2) {
        std::this_thread::yield();
      }
      (void)pipeline.Next();
    }
  }
  const Outcome later = RunEpochs(shards, SeekIndexes::kAuto, 1);
  EXPECT_EQ(later.stats.seek_indexes.covered_rows,
            later.stats.seek_indexes.rows);
  EXPECT_EQ(later.stats.seek_indexes.found, 0);
}

}  // namespace infeed::input_pipeline_seek_test
