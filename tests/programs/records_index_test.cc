#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/byte_source.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Two shards: records of 5 and 3 bytes, and one of 1.
class RecordsIndexTest : public ::testing::Test {
 protected:
  RecordsIndexTest() {
    RecordFile().Add("first").Add("two").Write(first_);
    RecordFile().Add("3").Write(second_);
  }
  ProgramResult Index(const std::string& flags) const {
    return RunProgram("records", "index " + flags + " " + folder_.path());
  }
  [[nodiscard]] static std::string TextOf(const std::string& path) {
    return ReadWholeFile(path, 1 << 20);
  }

  const TemporaryFolder folder_;
  const std::string first_ = folder_ / "train-00000-of-00002";
  const std::string second_ = folder_ / "train-00001-of-00002";
  const std::string ours_ = folder_ / ".infeed/train-00000-of-00002.index";
};

TEST_F(RecordsIndexTest, WritesDalisIndexBesideTheShards) {
  const ProgramResult result = Index("--dali");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(TextOf(first_ + ".idx"), "0 21\n21 19\n");
  EXPECT_EQ(TextOf(second_ + ".idx"), "0 17\n");
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 21));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(first_ + ": 2 records, wrote " + ours_ +
                              ", DALI's is " + first_ + ".idx\n"),
                    EndsWith("\n3 records in 2 shards\n")));
  // Existing valid files are kept.
  EXPECT_THAT(Index("--dali").out, HasSubstr("the index is up to date"));
}

TEST_F(RecordsIndexTest, WritesDalisIndexIntoAFolder) {
  const std::string folder = folder_ / "idx/deep";
  EXPECT_EQ(Index("--dali=" + folder).exit_code, 0);
  EXPECT_EQ(TextOf(folder + "/train-00000-of-00002.idx"), "0 21\n21 19\n");
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
}

TEST_F(RecordsIndexTest, ReplacesAnotherDaliIndexOnlyWhenTold) {
  WriteFileAtomically(first_ + ".idx", "0 1\n");
  const ProgramResult result = Index("--dali");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(first_ + ".idx"), HasSubstr("--force")));
  EXPECT_EQ(TextOf(first_ + ".idx"), "0 1\n");
  EXPECT_EQ(Index("--dali --force").exit_code, 0);
  EXPECT_EQ(TextOf(first_ + ".idx"), "0 21\n21 19\n");
}

TEST_F(RecordsIndexTest, TakesDalisIndex) {
  WriteFileAtomically(first_ + ".idx", "0 21\n21 19\n");
  WriteFileAtomically(second_ + ".idx", "0 17\n");
  EXPECT_EQ(Index("--from_dali").exit_code, 0);
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 21));

  WriteFileAtomically(second_ + ".idx", "0 16\n");
  const ProgramResult result = Index("--from_dali");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr(second_ + ".idx: line 1: no record of 16"));
  fs::remove(second_ + ".idx");
  EXPECT_EQ(Index("--from_dali").exit_code, 1);
}

TEST_F(RecordsIndexTest, MakesAnIndexAnewWhenTold) {
  EXPECT_EQ(Index("").exit_code, 0);
  // An index that fits and is wrong all the same.
  SaveIndex(FileSource(first_), {0, 24});
  EXPECT_THAT(Index("").out, HasSubstr("2 records, the index is up to date"));
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 24));
  EXPECT_EQ(Index("--force").exit_code, 0);
  EXPECT_THAT(FindIndex(FileSource(first_)).value(), ElementsAre(0, 21));
}

TEST_F(RecordsIndexTest, IndexesPackedShardsAndSaysWhatTheyCannotDo) {
  const std::string bytes = TextOf(first_);
  const auto sink = DeflateSink(OpenSink(first_), Compression::kGzip);
  sink->Write(bytes);
  sink->Commit();
  const ProgramResult result = Index("--threads 1 --dali");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr(first_ + ": 2 records of a gzip stream, wrote " + ours_ +
                      "\n"),
            HasSubstr("1 shard is compressed and can only be read in order"),
            EndsWith("\n3 records in 2 shards\n")));
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
  EXPECT_EQ(FindFrames(FileSource(first_)).value(),
            (ShardFrames{Compression::kGzip, 40, {0, 21}}));
  EXPECT_THAT(Index("").out,
              HasSubstr("of a gzip stream, the index is up to date\n"));
}

TEST_F(RecordsIndexTest, SaysItInJson) {
  const auto json = nlohmann::json::parse(Index("--json").out);
  EXPECT_EQ(json["records"], 3);
  EXPECT_EQ(json["shards"][0]["file"], first_);
  EXPECT_EQ(json["shards"][0]["records"], 2);
  EXPECT_EQ(json["shards"][0]["up_to_date"], false);
  EXPECT_EQ(json["shards"][0]["index"], ours_);
  EXPECT_EQ(json["shards"][0]["dali"], nullptr);
}

TEST_F(RecordsIndexTest, OnlySaysWhatItWouldDo) {
  const ProgramResult result = Index("--dry_run --dali");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 records, would write an index"));
  EXPECT_FALSE(fs::exists(first_ + ".idx"));
  EXPECT_FALSE(fs::exists(ours_));
}

}  // namespace
}  // namespace infeed
