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
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Four images in two shards.
class RecordsStatsTest : public ::testing::Test {
 protected:
  RecordsStatsTest() {
    for (const int shard : {0, 1}) {
      RecordFile()
          .Add(PayloadOf({TestJpeg(), 1, "a.jpg"}))
          .Add(PayloadOf({TestJpeg(), 2, "b.jpg"}))
          .Write(Path(shard));
    }
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments) const {
    return RunProgram("records", "stats " + arguments + " " + folder_.path());
  }

  const TemporaryFolder folder_;
};

TEST_F(RecordsStatsTest, WritesOverNoInput) {
  const std::string before = ReadWholeFile(Path(0), 1 << 20);
  std::filesystem::create_symlink(Path(0), folder_ / "page.html");
  for (const std::string& flags :
       {"--html " + Path(0), "--json=" + Path(0),
        "--html " + (folder_ / "page.html"),
        "--html " + (folder_ / "new") + " --json=" + (folder_ / "new")}) {
    const ProgramResult result = Run(flags);
    EXPECT_EQ(result.exit_code, 2) << flags;
    EXPECT_THAT(result.err, HasSubstr(": give another file"));
  }
  EXPECT_EQ(ReadWholeFile(Path(0), 1 << 20), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(RecordsStatsTest, WritesJsonAndAPageBesideTheText) {
  const std::string file = folder_ / "stats.json";
  const std::string page = folder_ / "stats.html";
  const ProgramResult result = Run("--json=" + file + " --html " + page);
  EXPECT_THAT(result.out, HasSubstr("records     4"));
  EXPECT_EQ(Json::parse(ReadWholeFile(file, 1 << 20))["records"], 4);
  EXPECT_THAT(ReadWholeFile(page, 1 << 22), HasSubstr("<svg"));
}

TEST_F(RecordsStatsTest, NamesBadRecordsAndGoesOn) {
  RecordFile()
      .Add("not an Example")
      .Add(PayloadOf({"no image"}))
      .Add(PayloadOf({""}))
      .Write(Path(0));
  const ProgramResult result = Run("");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr(Path(0) + ": record 0 at byte 0: "),
                                HasSubstr(Path(0) + ": record 1 at byte 30: "),
                                Not(HasSubstr("record 2"))));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("5 in 2 shards"), HasSubstr(", 2 bad\n"),
                    HasSubstr("none 1, other 1")));
}

}  // namespace
}  // namespace infeed
