#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_file.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tools/shards/seek_index_maker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// The payload of a record with an image and, where one is given, its index.
std::string PayloadWith(const std::string& image,
                        const std::string& seek_index = "") {
  ImagenetExample example;
  example.label = 1;
  example.encoded = image;
  example.seek_index = seek_index;
  return BuildImagenetExample(example);
}

std::string SealedOf(const std::string& jpeg) {
  return MakeSealedSeekIndex(AsBytes(jpeg), SeekEntries::kRows);
}

class RecordsSeekTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& arguments) const {
    return RunProgram("records", arguments + " " + folder_.path());
  }
  [[nodiscard]] std::unique_ptr<const SeekFile> File() const {
    return SeekFile::Find(shard_,
                          static_cast<std::int64_t>(fs::file_size(shard_)));
  }
  // A record's entry in the seek file.
  [[nodiscard]] std::string Entry(std::int64_t record) const {
    std::vector<std::byte> buffer;
    return AsText(File()->Read(record, 1 << 20, buffer));
  }

  const TemporaryFolder folder_;
  const std::string shard_ = folder_ / "train-00000-of-00001";
  const std::string file_ = folder_ / ".infeed/train-00000-of-00001.seek";
  const std::string jpeg_ = TestJpeg({.width = 96, .height = 40, .seed = 1});
  const std::string other_ = TestJpeg({.width = 96, .height = 40, .seed = 2});
  const std::string progressive_ =
      TestJpeg({.width = 96, .height = 40, .progressive = true});
};

TEST_F(RecordsSeekTest, MakesAFileForShardsThatStayAsTheyAre) {
  RecordFile()
      .Add(PayloadWith(jpeg_))
      .Add(PayloadWith(progressive_))
      .Add("not an Example")
      .Add(PayloadWith(other_, SealedOf(other_)))
      .Add(PayloadWith(other_))
      .Write(shard_);
  const std::string before = ReadWholeFile(shard_, 1 << 20);
  const ProgramResult result = Run("index --seek");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(", wrote 2 seek indexes to " + file_ +
                                    " (1 record has its own)\n"));
  EXPECT_EQ(Entry(0), SealedOf(jpeg_));
  EXPECT_EQ(Entry(1), "");
  EXPECT_EQ(Entry(2), "");
  EXPECT_EQ(Entry(3), "");
  EXPECT_EQ(Entry(4), SealedOf(other_));
  EXPECT_EQ(ReadWholeFile(shard_, 1 << 20), before);
}

TEST_F(RecordsSeekTest, PassesOverADamagedRecord) {
  RecordFile()
      .Add(PayloadWith(jpeg_))
      .FlipByte(500)
      .Add(PayloadWith(other_))
      .Write(shard_);
  EXPECT_EQ(Run("index --seek").exit_code, 0);
  EXPECT_EQ(Entry(0), "");
  EXPECT_EQ(Entry(1), SealedOf(other_));
}

TEST_F(RecordsSeekTest, MakesAFileAnewWhenAnotherIsAskedForOrTheShardChanged) {
  RecordFile().Add(PayloadWith(jpeg_)).Write(shard_);
  EXPECT_THAT(Run("index --seek --dry_run").out,
              HasSubstr(", would write seek indexes\n"));
  EXPECT_EQ(File(), nullptr);
  EXPECT_EQ(Run("index --seek=8").exit_code, 0);
  EXPECT_EQ(File()->info().run, 8);
  EXPECT_THAT(Run("index --seek=8").out,
              HasSubstr(", the seek indexes are up to date\n"));
  EXPECT_EQ(Run("index --seek=4").exit_code, 0);
  EXPECT_EQ(File()->info().run, 4);
  RecordFile().Add(PayloadWith(other_)).Write(shard_);
  EXPECT_EQ(Run("index --seek").exit_code, 0);
  EXPECT_EQ(Entry(0), SealedOf(other_));
  EXPECT_THAT(Run("index --seek --force").out, HasSubstr("wrote 1 seek"));
}

TEST_F(RecordsSeekTest, SaysWhatItMadeInJson) {
  RecordFile().Add(PayloadWith(jpeg_)).Write(shard_);
  const Json made = Json::parse(Run("index --seek --json").out);
  EXPECT_EQ(
      made["shards"][0]["seek"],
      (Json{
          {"up_to_date", false}, {"file", file_}, {"indexed", 1}, {"own", 0}}));
  EXPECT_FALSE(
      Json::parse(Run("index --json").out)["shards"][0].contains("seek"));
}

TEST_F(RecordsSeekTest, KnowsNoOtherKinds) {
  RecordFile().Add(PayloadWith(jpeg_)).Write(shard_);
  for (const std::string kind : {"=3", "=0", "=none", "=row"}) {
    EXPECT_EQ(Run("index --seek" + kind).exit_code, 2) << kind;
  }
}

TEST_F(RecordsSeekTest, StatsCountsExamplesThatHoldOne) {
  RecordFile()
      .Add(PayloadWith(jpeg_, SealedOf(jpeg_)))
      .Add(PayloadWith(other_))
      .Write(shard_);
  EXPECT_EQ(Json::parse(Run("stats --json").out)["jpeg"]["seek_index"], 1);
  EXPECT_THAT(Run("stats").out, HasSubstr("JPEGs with  a seek index 1, "));
}

TEST_F(RecordsSeekTest, RewritingVerbsKeepIndexes) {
  RecordFile().Add(PayloadWith(jpeg_, SealedOf(jpeg_))).Write(shard_);
  const std::string out = folder_ / "out";
  const ProgramResult result = RunProgram(
      "records", "reshard --shards 1 --output " + out + " " + folder_.path());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadWholeFile(out + "/train-00000-of-00001", 1 << 20),
            ReadWholeFile(shard_, 1 << 20));
}

}  // namespace
}  // namespace infeed
