#include "tools/inspect/indexing.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/seek_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::indexing_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Two shards: records of 5 and 3 bytes, and one of 1.
class IndexingTest : public ::testing::Test {
 protected:
  IndexingTest() {
    RecordFile().Add("first").Add("two").Write(first_);
    RecordFile().Add("3").Write(second_);
  }
  [[nodiscard]] std::vector<IndexedShard> Index(
      const IndexOptions& options = {}) const {
    return IndexShards({first_, second_}, options);
  }
  [[nodiscard]] std::string TextOf(const IndexOptions& options = {}) const {
    return RenderText(IndexReport(Index(options), options.dry_run));
  }
  [[nodiscard]] static std::string Read(const std::string& path) {
    return ReadWholeFile(path, 1 << 20);
  }

  const TemporaryFolder folder_;
  const std::string first_ = folder_ / "train-00000-of-00002";
  const std::string second_ = folder_ / "train-00001-of-00002";
  const std::string ours_ = folder_ / ".infeed/train-00000-of-00002.index";
};

TEST_F(IndexingTest, DalisIndexMayBeInAnotherFolder) {
  const std::string folder = folder_ / "idx/deep";
  (void)Index({.dali = folder});
  EXPECT_EQ(Read(folder + "/train-00000-of-00002.idx"), "0 21\n21 19\n");
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
}

TEST_F(IndexingTest, AnEqualDaliIndexIsKept) {
  const std::string dali = first_ + ".idx";
  WriteFileAtomically(dali, "0 21\n21 19\n");
  const auto time = fs::last_write_time(dali) - std::chrono::hours(1);
  fs::last_write_time(dali, time);
  EXPECT_EQ(Index({.dali = kBesideShards})[0].dali, dali);
  EXPECT_EQ(Read(dali), "0 21\n21 19\n");
  EXPECT_EQ(fs::last_write_time(dali), time);
}

TEST_F(IndexingTest, AnotherDaliIndexIsReplacedOnlyByForce) {
  WriteFileAtomically(first_ + ".idx", "0 1\n");
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Index({.dali = kBesideShards}); }),
      AllOf(HasSubstr(first_ + ".idx"), HasSubstr("--force")));
  EXPECT_EQ(Read(first_ + ".idx"), "0 1\n");
  (void)Index({.force = true, .dali = kBesideShards});
  EXPECT_EQ(Read(first_ + ".idx"), "0 21\n21 19\n");
}

TEST_F(IndexingTest, OffsetsMayComeFromDalisIndex) {
  WriteFileAtomically(first_ + ".idx", "0 21\n21 19\n");
  EXPECT_THROW((void)Index({.from_dali = true}), IoError);
  WriteFileAtomically(second_ + ".idx", "0 17\n");
  (void)Index({.from_dali = true});
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 21));
}

TEST_F(IndexingTest, AValidIndexIsReplacedOnlyByForce) {
  (void)Index();
  // An index that fits and is wrong all the same.
  SaveIndex(FileSource(first_), {0, 24});
  EXPECT_TRUE(Index()[0].was_there);
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 24));
  EXPECT_EQ(Index({.force = true})[0].index, ours_);
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 21));
}

TEST_F(IndexingTest, PackedShardsGetAnIndexOfTheirStream) {
  WritePacked(first_, Read(first_));
  EXPECT_THAT(
      TextOf({.dali = kBesideShards}),
      AllOf(HasSubstr(first_ + ": 2 records of a gzip stream, wrote " + ours_ +
                      "\n"),
            HasSubstr("1 shard is compressed and can only be read in order"),
            EndsWith("\n3 records in 2 shards\n")));
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
  EXPECT_EQ(FindFrames(FileSource(first_)).value(),
            (ShardFrames{Compression::kGzip, 40, {0, 21}}));
  EXPECT_TRUE(Index()[0].was_there);
}

TEST_F(IndexingTest, ADryRunWritesNothing) {
  EXPECT_THAT(TextOf({.dali = kBesideShards, .dry_run = true}),
              HasSubstr("2 records, would write an index, DALI's would be " +
                        first_ + ".idx\n"));
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
  EXPECT_FALSE(fs::exists(ours_));
}

TEST_F(IndexingTest, SeekIndexesAreInAFileBesideTheShard) {
  const std::string jpeg = TestJpeg({.width = 96, .height = 40, .seed = 1});
  const std::string other = TestJpeg({.width = 96, .height = 40, .seed = 2});
  RecordFile()
      .Add(PayloadWith(jpeg))
      .Add(PayloadWith(TestJpeg({.progressive = true})))
      .Add("not an Example")
      .Add(PayloadWith(other, SealedOf(other)))
      .Add(PayloadWith(other))
      .FlipByte(20)
      .Write(first_);
  const std::string before = Read(first_);
  const auto index = [&](SeekEntries entries) {
    return IndexShards({first_}, {.seek = entries});
  };
  const auto made = index(SeekEntries::kRows);
  const std::string file = folder_ / ".infeed/train-00000-of-00002.seek";
  EXPECT_THAT(RenderText(IndexReport(made, false)),
              HasSubstr(", wrote 1 seek index to " + file +
                        " (1 record has its own)\n"));
  EXPECT_EQ(
      Json::parse(RenderJson(IndexReport(made, false)))["shards"][0]["seek"],
      (Json{
          {"up_to_date", false}, {"file", file}, {"indexed", 1}, {"own", 1}}));
  EXPECT_EQ(Read(first_), before);
  const auto entry = [&](std::int64_t record) {
    std::vector<std::byte> buffer;
    return AsText(
        SeekFile::Find(first_, static_cast<std::int64_t>(before.size()))
            ->Read(record, 1 << 20, buffer));
  };
  EXPECT_EQ(entry(0), "");  // Damaged.
  EXPECT_EQ(entry(3), "");  // Has its own.
  EXPECT_EQ(entry(4), SealedOf(other));
  EXPECT_TRUE(index(SeekEntries::kRows)[0].seek->was_there);
  EXPECT_FALSE(index(SeekEntries::kEvery4th)[0].seek->was_there);
  RecordFile().Add(PayloadWith(jpeg)).Write(first_);
  EXPECT_EQ(index(SeekEntries::kEvery4th)[0].seek->indexed, 1);
}

}  // namespace infeed::indexing_test
