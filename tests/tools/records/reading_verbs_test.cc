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
#include "tests/support/environment_variable.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/seek_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tests/tools/records/run_verb.h"

namespace infeed::reading_verbs_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A shard of one record, a JPEG.
class ReadingVerbsTest : public ::testing::Test {
 protected:
  // Runs a verb on the shard; its text.
  [[nodiscard]] std::string Run(const std::string& verb,
                                ExitCode code = ExitCode::kDone) const {
    const VerbResult result = RunVerb(verb + " " + shard_);
    EXPECT_EQ(result.code, code) << verb << result.err;
    return result.out;
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
  EXPECT_THROW((void)Run("verify --frames_only --decode"), CLI::ParseError);
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

TEST_F(ReadingVerbsTest, IndexWritesDalisIndexAndTakesIt) {
  const std::string dali = shard_ + ".idx";
  const std::string line = "0 " + std::to_string(fs::file_size(shard_)) + "\n";
  EXPECT_THAT(Run("index --dali"),
              HasSubstr(shard_ + ": 1 record, wrote " + folder_.path() +
                        "/.infeed/" + name_ + ".index, DALI's is " + dali));
  EXPECT_EQ(ReadWholeFile(dali, 100), line);
  EXPECT_THAT(Run("index --dali --dry_run"),
              HasSubstr("the index is up to date"));
  EXPECT_EQ(Json::parse(Run("index --json"))["shards"][0]["dali"], nullptr);
  EXPECT_THROW((void)Run("index --from_dali --dali"), CLI::ParseError);
  EXPECT_THROW((void)Run("index --seek=3"), CLI::ParseError);
  WriteFileAtomically(dali, "0 16\n");
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Run("index --from_dali --force"); }),
      HasSubstr(dali + ": line 1: no record of 16"));
}

TEST_F(ReadingVerbsTest, IndexNeedsAPlaceForItsFiles) {
  RecordFile().Write(folder_ / ".infeed");
  const EnvironmentVariable cache("XDG_CACHE_HOME", shard_);
  EXPECT_THAT(MessageOf<IoError>([&] { (void)Run("index"); }),
              HasSubstr("cannot make a folder for side files"));
}

TEST_F(ReadingVerbsTest, CountRefusesABrokenFrame) {
  RecordFile().Add("x").Truncate(1).Write(shard_);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Run("count"); }),
              AllOf(StartsWith(shard_), HasSubstr("truncated record")));
}

TEST_F(ReadingVerbsTest, StatsWritesOverNoInput) {
  const std::string before = ReadWholeFile(shard_, 1 << 20);
  const std::string page = folder_ / "page.html";
  const std::string fresh = folder_ / "new";
  fs::create_symlink(shard_, page);
  for (const std::string& flags :
       {"--html " + shard_, "--json=" + shard_, "--html " + page,
        "--html " + fresh + " --json=" + fresh}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)Run("stats " + flags); }),
                HasSubstr(": give another file"))
        << flags;
  }
  EXPECT_EQ(ReadWholeFile(shard_, 1 << 20), before);
  EXPECT_FALSE(fs::exists(fresh));
}

TEST_F(ReadingVerbsTest, ExtractGoesOnWithAnEarlierRun) {
  const std::string jpeg = TestJpeg();
  RecordFile()
      .Add(PayloadOf({jpeg, 1, "a.jpg"}))
      .Add(PayloadOf({jpeg, 1, "b.jpg"}))
      .Write(shard_);
  const std::string out = folder_ / "images";
  const std::string extract = "extract --output " + out + " ";
  (void)Run(extract + "--limit=1");
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Run(extract); }),
              HasSubstr(out + ": is not empty"));
  RecordFile().AddRaw("cut short").Write(out + "/1/b.jpg");
  const Json json = Json::parse(Run(extract + "--resume --json"));
  EXPECT_EQ(json["written"], 1);
  EXPECT_EQ(json["skipped"], 1);
  EXPECT_EQ(ReadWholeFile(out + "/1/b.jpg", 1 << 20), jpeg);
}

TEST_F(ReadingVerbsTest, ExtractNamesBadRecordsAndContinues) {
  RecordFile()
      .Add("not an Example")
      .Add(PayloadOf({""}))
      .Add(PayloadOf({TestJpeg(), 1, "a.jpg"}))
      .Write(shard_);
  const VerbResult result =
      RunVerb("extract --output " + (folder_ / "images") + " " + shard_);
  EXPECT_EQ(result.code, ExitCode::kDataError);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("record 0 at byte 0: not a tf.train.Example"),
                    HasSubstr("there is no image in the record")));
  EXPECT_THAT(result.out,
              AllOf(StartsWith("1 image in"), EndsWith(", 2 bad\n")));
}

TEST_F(ReadingVerbsTest, VerifyNamesTheFormatOfImageFiles) {
  const std::string a = folder_ / "a.jpg";
  const std::string b = folder_ / "b.jpg";
  WriteFileAtomically(a, TestJpeg());
  WriteFileAtomically(b, TestJpeg());
  for (const std::string& paths : {a, a + "," + b}) {
    const VerbResult result = RunVerb("verify " + paths);
    EXPECT_EQ(result.code, ExitCode::kDataError);
    EXPECT_THAT(result.out, AllOf(HasSubstr("a.jpg: record 0 at byte 0: a JPEG "
                                            "image, not a file of records: "),
                                  Not(HasSubstr("checksum"))));
  }
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

TEST_F(ReadingVerbsTest, DiffTakesTwoSetsInAnyOrder) {
  const std::string a = RecordFile().Add("x").Add("y").Write(folder_ / "a");
  const std::string b = RecordFile().Add("y").Add("x").Write(folder_ / "b");
  EXPECT_EQ(RunVerb("diff " + a + " " + b).code, ExitCode::kDataError);
  EXPECT_EQ(RunVerb("diff --unordered " + a + " " + b).code, ExitCode::kDone);
  EXPECT_THROW((void)RunVerb("diff " + a), CLI::ParseError);
  EXPECT_THROW((void)RunVerb("diff " + a + " /no/such"), IoError);
}

}  // namespace infeed::reading_verbs_test
