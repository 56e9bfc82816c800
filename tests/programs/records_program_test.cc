#include <algorithm>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/files_in.h"
#include "tests/support/flower_records.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

using Json = nlohmann::json;
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

TEST_F(RecordsProgramTest, StatsWritesJsonAndAPageBesideTheText) {
  const std::string file = folder_ / "stats.json";
  const std::string page = folder_ / "stats.html";
  const ProgramResult result = Run("stats --json=" + file + " --html " + page);
  EXPECT_THAT(result.out, HasSubstr("records     3"));
  EXPECT_EQ(Json::parse(ReadWholeFile(file, 1 << 20))["records"], 3);
  EXPECT_THAT(ReadWholeFile(page, 1 << 22), HasSubstr("<svg"));
}

TEST(RecordsExtractTest, GivesBackTheBytesThatWereConverted) {
  ImageFolder raw;
  raw.JpegsIn("raw/daisy", 5).JpegsIn("raw/rose", 5);
  const std::string shards = raw / "shards";
  const std::string output = raw / "images";
  ASSERT_THAT(
      RunProgram("imagenet_to_records", "--raw_data_dir " + (raw / "raw") +
                                            " --local_scratch_dir " + shards),
      Ends(0));
  EXPECT_THAT(
      Succeeded(
          RunProgram("records", "extract --output " + output + " " + shards))
          .out,
      AllOf(HasSubstr("10 images in 2 folders"), EndsWith(", 0 bad\n")));
  EXPECT_EQ(FilesBelow(output), FilesBelow(raw / "raw"));
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
       {"ls '" + shard + "'", "verify '" + shard + "'", "head '" + shard + "'",
        "cat '" + shard + "'", "ls '" + (folder / odd) + "'",
        "count '" + shard + "no'", "index --json=- '" + shard + "'",
        "stats '" + shard + "'", "count --threads '" + odd + "' x",
        "count '--" + odd + "' x",
        "reshard --shards 1 --output '" + (folder / (odd + "2")) + "' '" +
            shard + "'"}) {
    const ProgramResult result = RunProgram("records", command);
    EXPECT_TRUE(HasNoControl(result.out)) << command << result.out;
    EXPECT_TRUE(HasNoControl(result.err)) << command << result.err;
  }
  EXPECT_THAT(RunProgram("records", "count '" + shard + "'").out,
              HasSubstr(shown + "/train-00000-of-00001 1\n"));
}

TEST(RecordsProgramUsageTest, ShowsNoCredentials) {
  for (const std::string& arguments :
       {"count 's3://KEY:SECRET@bucket/data'"s,
        "ls 'gs://KEY:SEC/SECRET@bucket/data'"s,
        "count 'https://u:SECRET@localhost:1/x'"s,
        "ls 'https://localhost:1/x?sig=SECRET'"s,
        "count '/tmp/s3://KEY:SECRET@bucket/d'"s,
        "count --threads 's3://KEY:SECRET@bucket/data'"s}) {
    const ProgramResult result = RunProgram("records", arguments);
    EXPECT_NE(result.exit_code, 0) << arguments;
    EXPECT_THAT(result.err, Not(HasSubstr("SECRET"))) << arguments;
  }
}

}  // namespace
}  // namespace infeed
