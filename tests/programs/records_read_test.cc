#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/writer.h"
#include "tests/support/flower_records.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

// Labels 1 and 2 in a plain shard, 3 and 4 in a compressed one, 5 and 6 in a
// plain one.
class RecordsReadTest : public ::testing::Test {
 protected:
  RecordsReadTest() {
    for (const int shard : {0, 1, 2}) {
      TfrecordWriter writer(Path(shard),
                            {.compression = shard == 1 ? Compression::kGzip
                                                       : Compression::kNone});
      for (const int label : {2 * shard + 1, 2 * shard + 2}) {
        writer.Append(
            PayloadOf({jpeg_, label, std::to_string(label) + ".jpg",
                       "ros\xC3\xA9", "n" + std::to_string(label), 31, 17}));
      }
      writer.Close();
    }
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00003");
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments) const {
    return RunProgram("records", arguments + " " + folder_.path());
  }

  const TemporaryFolder folder_;
  const std::string jpeg_ = TestJpeg({.width = 31, .height = 17});
};

TEST_F(RecordsReadTest, GoesOnWithoutMissingShardsOnlyWhenTold) {
  std::filesystem::remove(Path(1));
  const std::string text = "1 shard is missing: " + Path(1);
  for (const std::string verb : {"count", "cat", "head", "stats"}) {
    const ProgramResult refused = Run(verb);
    EXPECT_EQ(refused.exit_code, 3) << verb;
    EXPECT_EQ(refused.out, "") << verb;
    EXPECT_THAT(refused.err, HasSubstr(text)) << verb;
    const ProgramResult allowed = Run(verb + " --allow_missing_shards");
    EXPECT_EQ(allowed.exit_code, 0) << verb;
    EXPECT_THAT(allowed.err, HasSubstr(text)) << verb;
  }
  EXPECT_EQ(RunProgram("records", "count " + Path(0)).exit_code, 0);
}

TEST_F(RecordsReadTest, ListsMissingShards) {
  std::filesystem::remove(Path(1));
  const ProgramResult ls = Run("ls");
  EXPECT_EQ(ls.exit_code, 3);
  EXPECT_THAT(ls.out, HasSubstr("\nmissing "));
  EXPECT_THAT(ls.err, HasSubstr(Path(1) + ": missing"));
  // One shard after the other: nothing that is done is wrong.
  const ProgramResult index = Run("index");
  EXPECT_EQ(index.exit_code, 0);
  EXPECT_THAT(index.err, HasSubstr("1 shard is missing: " + Path(1)));
}

TEST_F(RecordsReadTest, CatPrintsTheChosenFeaturesOfTheChosenRecords) {
  const ProgramResult result =
      Run("cat --record 5,1-3 --limit 1 --keys image/filename,image/height");
  EXPECT_EQ(Json::parse(result.out)["features"],
            Json({{"image/filename", "2.jpg"}, {"image/height", 17}}));
  EXPECT_THAT(Run("cat --offset 4 --limit 1").out,
              HasSubstr("\"image/class/label\":5"));
  EXPECT_EQ(Run("cat --record x").exit_code, 2);
  EXPECT_EQ(Run("cat --record 1 --offset 1").exit_code, 2);
}

TEST_F(RecordsReadTest, CatNamesBadRecordsThatItFindsByTheIndex) {
  EXPECT_EQ(RunProgram("records", "index " + Path(0)).exit_code, 0);
  std::string bytes = ReadWholeFile(Path(0), 1 << 20);
  const auto time = std::filesystem::last_write_time(Path(0));
  RecordFile().AddRaw(bytes).FlipByte(bytes.size() - 20).Write(Path(0));
  std::filesystem::last_write_time(Path(0), time);
  const ProgramResult result = Run("cat --record 1-2");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr(Path(0) + ": record 1 at byte "));
  EXPECT_THAT(result.out, HasSubstr("\"image/class/label\":3"));
}

TEST_F(RecordsReadTest, HeadShowsATable) {
  const ProgramResult result = Run("head -n 3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(StartsWith("shard                 record  label  text   size  "),
            HasSubstr("\ntrain-00000-of-00003       1      2  ros\xC3\xA9  "
                      "31x17  "),
            HasSubstr("\ntrain-00001-of-00003       0      3  "),
            EndsWith("  3.jpg\n"), Not(HasSubstr("4.jpg"))));
}

TEST_F(RecordsReadTest, HeadPrintsLinesOfJsonAsCatDoes) {
  EXPECT_EQ(Run("head --json -n 2").out, Run("cat --limit 2").out);
}

TEST_F(RecordsReadTest, HeadNamesBadRecords) {
  RecordFile().Add("not an Example").Write(Path(0));
  const ProgramResult result = Run("head -n 2");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr(Path(0) + ": record 0 at byte 0: "));
  EXPECT_THAT(result.out, EndsWith("  3.jpg\n"));
}

}  // namespace
}  // namespace infeed
