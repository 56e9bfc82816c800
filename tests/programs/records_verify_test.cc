#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/crc32c.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/writer.h"
#include "tests/support/bytes.h"
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
using ::testing::StartsWith;
using Json = nlohmann::json;

// Two good shards, of two records and of one.
class RecordsVerifyTest : public ::testing::Test {
 protected:
  RecordsVerifyTest() {
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    first_.Add(PayloadOf({jpeg, 1})).Add(PayloadOf({jpeg, 2})).Write(Path(0));
    second_.Add(PayloadOf({jpeg, 3})).Write(Path(1));
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments = "") const {
    return RunProgram("records", "verify " + arguments + " " + folder_.path());
  }
  // A description of the two shards as they are.
  [[nodiscard]] DatasetInfo Description() const {
    DatasetInfo info;
    info.splits.push_back({.name = "train", .records = 3, .shards = {}});
    for (const int shard : {0, 1}) {
      const std::string bytes = ReadWholeFile(Path(shard), 1 << 20);
      char crc[9];
      std::snprintf(crc, sizeof crc, "%08x", Crc32c(AsBytes(bytes)));
      info.splits[0].shards.push_back(
          {.name = std::filesystem::path(Path(shard)).filename(),
           .records = 2 - shard,
           .bytes = static_cast<std::int64_t>(bytes.size()),
           .crc32c = crc});
    }
    return info;
  }

  const TemporaryFolder folder_;
  RecordFile first_;
  RecordFile second_;
};

TEST_F(RecordsVerifyTest, GoodShardsGiveOneLine) {
  const ProgramResult result = Run("--decode --threads=2");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "3 records in 2 shards, 0 bad\n");
}

TEST_F(RecordsVerifyTest, PrintsEachBadRecordAndGoesOn) {
  RecordFile()
      .Add("not an Example")
      .Add("flipped")
      .FlipByte(30 + 13)
      .Add(PayloadOf({"not a JPEG"}))
      .AddRaw("this is no frame")
      .Add(PayloadOf({TestJpeg({})}))
      .Add(PayloadOf({"not a JPEG either"}))
      .Write(Path(0));
  const ProgramResult result = Run("--decode");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(": record 0 at byte 0: not a tf.train.Example"),
                    HasSubstr(": record 1 at byte 30: corrupted record: the "
                              "payload's checksum"),
                    HasSubstr(": record 2 at byte 53: "),
                    HasSubstr("; 16 bytes lost, the next record is at byte "),
                    EndsWith("7 records in 2 shards, 5 bad, 39 B skipped\n")));
  EXPECT_EQ(Run("--decode --threads=1").out, Run("--decode --threads=5").out);
}

TEST_F(RecordsVerifyTest, NamesTheFormatOfImageFiles) {
  const std::string a = folder_ / "a.jpg";
  const std::string b = folder_ / "b.jpg";
  WriteFileAtomically(a, TestJpeg({}));
  WriteFileAtomically(b, TestJpeg({}));
  for (const std::string& paths : {a, a + "," + b, a + " " + b}) {
    const ProgramResult result = RunProgram("records", "verify " + paths);
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("a.jpg: record 0 at byte 0: a JPEG "
                                            "image, not a file of records: "),
                                  Not(HasSubstr("checksum"))));
  }
}

TEST_F(RecordsVerifyTest, SaysWhichRecordsWereLostByTheIndexFromBefore) {
  EXPECT_EQ(RunProgram("records", "index " + folder_.path()).exit_code, 0);
  first_.FlipByte(3).Write(Path(0));
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(" were record 0, by the index from before the "
                              "damage\n"),
                    EndsWith(", 1 record lost\n")));
}

TEST_F(RecordsVerifyTest, ReadsCompressedShards) {
  TfrecordWriter writer(Path(1), {.compression = Compression::kGzip});
  writer.Append(PayloadOf({TestJpeg()}));
  writer.Close();
  EXPECT_EQ(Run("--decode").out, "3 records in 2 shards, 0 bad\n");
  const Json json = Json::parse(Run("--json").out);
  EXPECT_EQ(json["shards"][1]["compression"], "gzip");
  std::string packed = ReadWholeFile(Path(1), 1 << 20);
  packed.resize(packed.size() - 20);
  RecordFile().AddRaw(packed).Write(Path(1));
  EXPECT_EQ(Run().exit_code, 3);
}

TEST_F(RecordsVerifyTest, ReportsAsJson) {
  second_.FlipByte(20).Write(Path(1));
  const ProgramResult result = Run("--json");
  EXPECT_EQ(result.exit_code, 3);
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["good"], false);
  EXPECT_EQ(json["records"], 3);
  EXPECT_EQ(json["bad"], 1);
  EXPECT_EQ(json["passed_over_bytes"], second_.bytes().size());
  EXPECT_EQ(json["shards"][0]["bad"], Json::array());
  EXPECT_EQ(json["shards"][1]["file"], Path(1));
  EXPECT_EQ(json["shards"][1]["bytes"], second_.bytes().size());
  EXPECT_EQ(json["shards"][1]["bad"][0]["offset"], 0);
  EXPECT_EQ(json["shards"][1]["passed_over"][0]["offset"], 0);
}

TEST_F(RecordsVerifyTest, WritesJsonBesideTheText) {
  const std::string report = folder_ / "report.json";
  EXPECT_EQ(Run("--json=" + report).out, "3 records in 2 shards, 0 bad\n");
  EXPECT_EQ(Json::parse(ReadWholeFile(report, 1 << 20))["good"], true);
}

TEST_F(RecordsVerifyTest, ComparesWithTheDescription) {
  DatasetInfo info = Description();
  WriteDatasetInfo(folder_.path(), info);
  EXPECT_EQ(Run().out, "3 records in 2 shards, 0 bad\n");
  info.splits[0].shards[0].crc32c = "00000000";
  info.splits[0].shards[1].records = 7;
  WriteDatasetInfo(folder_.path(), info);
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr(Path(0) + ": has the CRC-32C "),
            HasSubstr(Path(1) + ": holds 1 record, dataset.json says 7\n"),
            EndsWith("0 bad, 2 problems of the set\n")));
  EXPECT_EQ(Run("--no_dataset_json").exit_code, 0);
}

TEST_F(RecordsVerifyTest, NamesMissingShards) {
  WriteDatasetInfo(folder_.path(), Description());
  std::filesystem::remove(Path(0));
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, StartsWith(Path(0) + ": missing\n1 record "));
  const ProgramResult allowed =
      RunProgram("records", "verify --allow_missing_shards " + folder_.path());
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.err, HasSubstr("1 shard is missing: " + Path(0)));
  // For a single named shard, no others are expected.
  EXPECT_EQ(RunProgram("records", "verify " + Path(1)).exit_code, 0);
}

TEST_F(RecordsVerifyTest, LooksAtFramesOnlyWhenToldTo) {
  RecordFile().Add("not an Example").Write(Path(0));
  const ProgramResult result = Run("--frames-only");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(Run("--frames_only --decode").exit_code, 2);
  EXPECT_THAT(Run("--threads=-1").err,
              HasSubstr("must not be negative, not -1"));
}

TEST_F(RecordsVerifyTest, AnUnreadableFileIsAnError) {
  std::filesystem::remove(Path(0));
  std::filesystem::create_symlink("nowhere", Path(0));
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(Path(0) + ": cannot open"));
}

}  // namespace
}  // namespace infeed
