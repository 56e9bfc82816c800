#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

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
  EXPECT_THAT(Index("--dali --dry_run").out,
              HasSubstr("the index is up to date"));
  const auto json = nlohmann::json::parse(Index("--json --threads 1").out);
  EXPECT_EQ(json["records"], 3);
  EXPECT_EQ(json["shards"][0]["dali"], nullptr);
}

TEST_F(RecordsIndexTest, TakesDalisIndexOnlyIfItFits) {
  WriteFileAtomically(first_ + ".idx", "0 21\n21 19\n");
  WriteFileAtomically(second_ + ".idx", "0 16\n");
  const ProgramResult result = Index("--from_dali");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr(second_ + ".idx: line 1: no record of 16"));
  EXPECT_EQ(Index("--from_dali --dali").exit_code, 2);
  EXPECT_EQ(Index("--seek=3").exit_code, 2);
}

}  // namespace
}  // namespace infeed
