#include <algorithm>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
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
using std::string_literals::operator""s;

// Two good shards, of two records and of one.
class RecordsProgramTest : public ::testing::Test {
 protected:
  RecordsProgramTest() {
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    first_.Add(PayloadOf({jpeg, 1, "a.jpg", "ros\xC3\xA9", "roses", 31, 17}))
        .Add(PayloadOf({jpeg, 2, "a.jpg", "ros\xC3\xA9", "roses", 31, 17}))
        .Write(Path(0));
    second_.Add(PayloadOf({jpeg, 3, "a.jpg", "ros\xC3\xA9", "roses", 31, 17}))
        .Write(Path(1));
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments) const {
    return RunProgram("records", arguments + " " + folder_.path());
  }

  const TemporaryFolder folder_;
  RecordFile first_;
  RecordFile second_;
};

TEST_F(RecordsProgramTest, SkipsWhatIsNoShardAmongItsPaths) {
  WriteFileAtomically(folder_ / "dataset.json.txt", "x");
  WriteFileAtomically(folder_ / "labels.txt", "x");
  for (const std::string verb : {"ls", "count", "verify", "stats"}) {
    const ProgramResult result =
        RunProgram("records", verb + " " + folder_.path() + "/*");
    EXPECT_EQ(result.exit_code, 0) << verb << result.err;
    EXPECT_THAT(result.err,
                HasSubstr("records: skipped 2 files that are not shards, such "
                          "as " +
                          (folder_ / "dataset.json.txt")));
  }
  EXPECT_EQ(
      RunProgram("records", "count " + (folder_ / "labels.txt")).exit_code, 3);
}

TEST_F(RecordsProgramTest, CountRefusesABrokenFrame) {
  second_.Truncate(1).Write(Path(1));
  const ProgramResult result = Run("count");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(StartsWith("records: " + Path(1)),
                                HasSubstr("truncated record")));
}

TEST_F(RecordsProgramTest, CatPrintsALineOfJsonForEachRecord) {
  const ProgramResult result = Run("cat --limit 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(StartsWith("{\"file\":\"" + Path(0) +
                       "\",\"record\":0,\"offset\":0,\"bytes\":"),
            HasSubstr("\"image/class/label\":1,"),
            HasSubstr("\"image/class/text\":\"ros\xC3\xA9\""),
            HasSubstr("\"image/encoded\":{\"bytes\":"), EndsWith("}}\n")));
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
}

TEST_F(RecordsProgramTest, CatGoesOnBehindBadRecords) {
  RecordFile()
      .Add("not an Example")
      .Add(PayloadOf({"", 7, "a.jpg", "ros\xC3\xA9", "roses", 31, 17}))
      .Write(Path(0));
  second_.FlipByte(40).Write(Path(1));
  const ProgramResult result = Run("cat");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr("\"image/class/label\":7,"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(Path(0) + ": record 0 at byte 0: not a "
                                        "tf.train.Example"),
                    HasSubstr(Path(1) + ": record 0 at byte 0: corrupted")));
}

TEST_F(RecordsProgramTest, IndexSaysThatItCannotKeepItsFiles) {
  RecordFile().Write(folder_ / ".infeed");
  const EnvironmentVariable cache("XDG_CACHE_HOME", Path(0));
  const ProgramResult result = Run("index");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot make a folder for side files"));
}

TEST_F(RecordsProgramTest, StatsWritesOverNoInput) {
  const std::string before = ReadWholeFile(Path(0), 1 << 20);
  std::filesystem::create_symlink(Path(0), folder_ / "page.html");
  for (const std::string& flags :
       {"--html " + Path(0), "--json=" + Path(0),
        "--html " + (folder_ / "page.html"),
        "--html " + (folder_ / "new") + " --json=" + (folder_ / "new")}) {
    const ProgramResult result = Run("stats " + flags);
    EXPECT_EQ(result.exit_code, 2) << flags;
    EXPECT_THAT(result.err, HasSubstr(": give another file"));
  }
  EXPECT_EQ(ReadWholeFile(Path(0), 1 << 20), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(RecordsProgramTest, StatsWritesJsonAndAPageBesideTheText) {
  const std::string file = folder_ / "stats.json";
  const std::string page = folder_ / "stats.html";
  const ProgramResult result = Run("stats --json=" + file + " --html " + page);
  EXPECT_THAT(result.out, HasSubstr("records     3"));
  EXPECT_EQ(nlohmann::json::parse(ReadWholeFile(file, 1 << 20))["records"], 3);
  EXPECT_THAT(ReadWholeFile(page, 1 << 22), HasSubstr("<svg"));
}

TEST_F(RecordsProgramTest, StatsNamesBadRecordsAndGoesOn) {
  RecordFile()
      .Add("not an Example")
      .Add(PayloadOf({"no image"}))
      .Add(PayloadOf({""}))
      .Write(Path(0));
  const ProgramResult result = Run("stats");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr(Path(0) + ": record 0 at byte 0: "),
                                HasSubstr(Path(0) + ": record 1 at byte 30: "),
                                Not(HasSubstr("record 2"))));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("4 in 2 shards"), HasSubstr(", 2 bad\n"),
                    HasSubstr("none 1, other 1")));
}

TEST(RecordsProgramUsageTest, TeachesItsUse) {
  const ProgramResult help = RunProgram("records", "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("verify"), HasSubstr("Examples:")));
  EXPECT_THAT(RunProgram("records", "cat --help").out, HasSubstr("--limit"));
}

TEST(RecordsProgramUsageTest, NamesWhatIsWrong) {
  const ProgramResult none = RunProgram("records", "");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("give a verb: "));
  const ProgramResult wrong = RunProgram("records", "cuont x");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("cuont"));
  EXPECT_EQ(RunProgram("records", "count").exit_code, 2);
  EXPECT_EQ(RunProgram("records", "count no/such/folder").exit_code, 1);
}

bool HasNoControl(const std::string& text) {
  return text.find("\xc2\x9b") == std::string::npos &&
         std::ranges::all_of(text, [](char c) {
           return c == '\n' ||
                  (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
         });
}

// Names of files and of datasets, and values of flags, reach the terminal.
TEST(RecordsProgramUsageTest, ShowsNoControlCharacters) {
  const std::string odd = "a\x1b]0;b\x07\nrecords: c\xc2\x9b\xff";
  const std::string shown = "a\\x1b]0;b\\x07\\x0arecords: c\\xc2\\x9b\\xff";
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / odd);
  const std::string shard = folder / (odd + "/train-00000-of-00001");
  RecordFile()
      .Add(PayloadOf({TestJpeg(), 1, "a.jpg", "ros\xC3\xA9", "roses", 31, 17}))
      .Write(shard);
  WriteFileAtomically(
      folder / (odd + "/dataset.json"),
      R"({"format": "infeed dataset", "version": 1, "seed": 0, "classes": [],
"splits": [{"name": "train", "records": 1, "shards": [{"name":
"train-00000-of-00001\u001b[31m", "records": 1, "bytes": 1, "crc32c":
"00000000"}]}]})");
  for (const std::string& command :
       {"count '" + shard + "'", "ls '" + shard + "'", "verify '" + shard + "'",
        "head '" + shard + "'", "cat '" + shard + "'",
        "ls '" + (folder / odd) + "'", "count '" + shard + "no'",
        "index --json=- '" + shard + "'", "stats '" + shard + "'",
        "count --threads '" + odd + "' x", "count '--" + odd + "' x",
        "reshard --shards 1 --output '" + (folder / (odd + "2")) + "' '" +
            shard + "'"}) {
    const ProgramResult result = RunProgram("records", command);
    EXPECT_TRUE(HasNoControl(result.out)) << command << result.out;
    EXPECT_TRUE(HasNoControl(result.err)) << command << result.err;
  }
  EXPECT_THAT(RunProgram("records", "count '" + shard + "'").out,
              HasSubstr(shown + "/train-00000-of-00001 1\n"));
  EXPECT_THAT(RunProgram("records", "index --force '" + shard + "'").out,
              HasSubstr(shown + "/.infeed/train-00000-of-00001.index"));
  EXPECT_THAT(RunProgram("records", "count '" + (folder / odd) + "/no'").err,
              HasSubstr(shown));
}

TEST(RecordsProgramUsageTest, ShowsNoCredentials) {
  for (const std::string& url :
       {"s3://KEY:SECRET@bucket/data"s, "gs://KEY:SEC/SECRET@bucket/data"s,
        "https://u:SECRET@localhost:1/x"s, "https://localhost:1/x?sig=SECRET"s,
        "/tmp/s3://KEY:SECRET@bucket/d"s}) {
    for (const std::string verb : {"count", "ls", "count --threads"}) {
      const ProgramResult result =
          RunProgram("records", verb + " '" + url + "'");
      EXPECT_NE(result.exit_code, 0) << url;
      EXPECT_THAT(result.err, Not(HasSubstr("SECRET"))) << url;
    }
  }
}

}  // namespace
}  // namespace infeed
