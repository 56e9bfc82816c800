#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
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
using Json = nlohmann::json;

// Two shards of a record each.
class RecordsVerifyTest : public ::testing::Test {
 protected:
  RecordsVerifyTest() {
    for (const int shard : {0, 1}) {
      RecordFile().Add(PayloadOf({TestJpeg(), 1})).Write(Path(shard));
    }
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments = "") const {
    return RunProgram("records", "verify " + arguments + " " + folder_.path());
  }

  const TemporaryFolder folder_;
};

TEST_F(RecordsVerifyTest, PrintsTextAndWritesJson) {
  const std::string report = folder_ / "report.json";
  const ProgramResult good = Run("--decode --threads=2");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out, "2 records in 2 shards, 0 bad\n");
  RecordFile().Add("not an Example").Write(Path(0));
  const ProgramResult bad = Run("--json=" + report);
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_EQ(bad.err, "records: 1 bad record\n");
  EXPECT_THAT(bad.out,
              AllOf(HasSubstr(": record 0 at byte 0: not a tf.train.Example"),
                    EndsWith("2 records in 2 shards, 1 bad\n")));
  const Json json = Json::parse(ReadWholeFile(report, 1 << 20));
  EXPECT_EQ(json["bad"], 1);
  EXPECT_EQ(Json::parse(Run("--json").out), json);
  EXPECT_EQ(Run("--frames-only --decode").exit_code, 2);
}

TEST_F(RecordsVerifyTest, NamesTheFormatOfImageFiles) {
  const std::string a = folder_ / "a.jpg";
  const std::string b = folder_ / "b.jpg";
  WriteFileAtomically(a, TestJpeg({}));
  WriteFileAtomically(b, TestJpeg({}));
  for (const std::string& paths : {a, a + "," + b}) {
    const ProgramResult result = RunProgram("records", "verify " + paths);
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("a.jpg: record 0 at byte 0: a JPEG "
                                            "image, not a file of records: "),
                                  Not(HasSubstr("checksum"))));
  }
}

TEST_F(RecordsVerifyTest, MissingShardsOfAFolderAreFaults) {
  std::filesystem::remove(Path(0));
  EXPECT_EQ(Run().exit_code, 3);
  const ProgramResult allowed = Run("--allow_missing_shards");
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.err, HasSubstr("1 shard is missing: " + Path(0)));
  // For a single named shard, no others are expected.
  EXPECT_EQ(RunProgram("records", "verify " + Path(1)).exit_code, 0);
  std::filesystem::create_symlink("nowhere", Path(0));
  const ProgramResult unreadable = Run();
  EXPECT_EQ(unreadable.exit_code, 1);
  EXPECT_THAT(unreadable.err, HasSubstr(Path(0) + ": cannot open"));
}

}  // namespace
}  // namespace infeed
