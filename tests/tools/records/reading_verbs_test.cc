// The verbs that leave shards as they are, by their flags.

#include <cstdint>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/program_end.h"
#include "records/files/dataset_info.h"
#include "records/store/seek_file.h"
#include "tests/support/record_file.h"
#include "tests/support/seek_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace reading_verbs_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// A shard of one record, a JPEG.
class ReadingVerbsTest : public ::testing::Test {
 protected:
  // Runs a verb on the shard; its text.
  [[nodiscard]] std::string Run(const std::string& verb,
                                ExitCode code = ExitCode::kDone) const {
    CLI::App app;
    Command command;
    for (auto* const add : {AddVerifyVerb, AddIndexVerb, AddDiffVerb}) {
      add(app, command);
    }
    app.parse(verb + " " + shard_);
    testing::internal::CaptureStdout();
    const ProgramEnd end = command.run();
    EXPECT_EQ(end.code, code) << verb;
    return testing::internal::GetCapturedStdout();
  }
  // The distance of the entries in the shard's seek file.
  [[nodiscard]] int SeekRunOfFile() const {
    const auto size = static_cast<std::int64_t>(fs::file_size(shard_));
    const auto file = SeekFile::Find(shard_, size);
    return file ? file->info().run : -1;
  }

  const TemporaryFolder folder_;
  const std::string name_ = "train-00000-of-00001";
  const std::string shard_ =
      RecordFile()
          .Add(PayloadWith(TestJpeg({.width = 96, .height = 40})))
          .Write(folder_ / name_);
};

TEST_F(ReadingVerbsTest, VerifyChecksWhatItIsTold) {
  WriteDatasetInfo(folder_.path(),
                   {.splits = {{.name = "train",
                                .records = 7,
                                .shards = {{name_, 7, 0, "00000000"}}}}});
  EXPECT_THAT(Run("verify", ExitCode::kDataError),
              HasSubstr("dataset.json says 7"));
  const std::string good = "1 record in 1 shard, 0 bad\n";
  EXPECT_EQ(Run("verify --no_dataset_json"), good);
  RecordFile().Add("not an Example").Write(shard_);
  (void)Run("verify --no_dataset_json", ExitCode::kDataError);
  EXPECT_EQ(Run("verify --no_dataset_json --frames_only"), good);
  EXPECT_THAT(MessageOf<CLI::ValidationError>(
                  [&] { (void)Run("verify --threads=-1"); }),
              HasSubstr("must not be negative, not -1"));
}

TEST_F(ReadingVerbsTest, IndexMakesTheSeekIndexesThatAreAskedFor) {
  EXPECT_THAT(Run("index --seek --dry_run"),
              HasSubstr(", would write seek indexes\n"));
  const std::string report = folder_ / "report.json";
  (void)Run("index --dry_run --json=" + report);
  EXPECT_FALSE(fs::exists(report));
  EXPECT_FALSE(fs::exists(folder_ / ".infeed"));
  EXPECT_FALSE(Json::parse(Run("index --json"))["shards"][0].contains("seek"));
  for (const int run : {8, 4}) {
    (void)Run("index --seek=" + std::to_string(run));
    EXPECT_EQ(SeekRunOfFile(), run);
  }
  EXPECT_THAT(Run("index --seek=4"), HasSubstr("seek indexes are up to date"));
  EXPECT_THAT(Run("index --seek=4 --force"), HasSubstr(", wrote 1 seek index"));
}

TEST_F(ReadingVerbsTest, DiffListsTheFirstDifferences) {
  const std::string other =
      RecordFile().Add("x").Add("y").Write(folder_ / "other");
  const std::string json = folder_ / "diff.json";
  EXPECT_THAT(
      Run("diff --limit 1 --json=" + json + " " + other, ExitCode::kDataError),
      HasSubstr("... and 1 more\n"));
  const Json report = Json::parse(ReadWholeFile(json, 1 << 20));
  EXPECT_EQ(report["differences"], 2);
  EXPECT_EQ(report["first"].size(), 1U);
}

}  // namespace reading_verbs_test
}  // namespace infeed
