#include "pipeline/engine/bad_record_report.h"

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

const BadRecord kSkipped{
    .slot = 3,
    .epoch = 2,
    .position = 67,
    .record = 9,
    .kind = BadRecordKind::kImage,
    .action = BadRecordAction::kSkipped,
    .error = DataError({"/data/train-0", 5, 4242}, "no image")};

constexpr const char* kSkippedLine =
    R"({"epoch":2,"position":67,"file":"/data/train-0","record":5,)"
    R"("offset":4242,"kind":"image","action":"skipped","reason":"no image"})"
    "\n";

TEST(BadRecordReportTest, HasALineForARecord) {
  EXPECT_EQ(BadRecordLine(kSkipped), kSkippedLine);
}

TEST(BadRecordReportTest, NamesTheRecordThatIsUsedInstead) {
  BadRecord bad = kSkipped;
  bad.draw = 2;
  bad.kind = BadRecordKind::kFrame;
  bad.action = BadRecordAction::kReplaced;
  bad.replaced_by = {"/data/train-1", 0, 16};
  EXPECT_EQ(
      BadRecordLine(bad),
      R"({"epoch":2,"position":67,"draw":2,"file":"/data/train-0","record":5,)"
      R"("offset":4242,"kind":"frame","action":"replaced",)"
      R"("by":{"file":"/data/train-1","record":0,"offset":16},)"
      R"("reason":"no image"})"
      "\n");
}

TEST(BadRecordReportTest, HasANameForEachKindAndAction) {
  EXPECT_EQ(BadRecordKindName(BadRecordKind::kExample), "example");
  EXPECT_EQ(BadRecordKindName(BadRecordKind::kLabel), "label");
  EXPECT_EQ(BadRecordKindName(BadRecordKind::kWarning), "warning");
  EXPECT_EQ(BadRecordActionName(BadRecordAction::kFailed), "failed");
  EXPECT_EQ(BadRecordActionName(BadRecordAction::kUsed), "used");
}

TEST(BadRecordReportTest, IsJsonWhateverTheBytesOfAMessage) {
  BadRecord bad = kSkipped;
  bad.error = DataError({"/data/\xff", 0, 0}, "a \"quote\"\n\xc3(");
  const std::string line = BadRecordLine(bad);
  EXPECT_THAT(line, HasSubstr(R"("file":"/data/�")"));
  EXPECT_THAT(line, HasSubstr(R"("reason":"a \"quote\"\n�(")"));
}

TEST(BadRecordReportTest, GoesOnAtTheEndOfTheFile) {
  const TemporaryFolder folder;
  const InputOptions options{.bad_record_report = folder / "bad.jsonl"};
  for (int run = 0; run < 2; ++run) {
    BadRecordReport report(options);
    EXPECT_EQ(report.path(), folder / "bad.jsonl");
    report.Add(std::vector<BadRecord>{kSkipped});
  }
  EXPECT_EQ(ReadWholeFile(folder / "bad.jsonl", 1000),
            std::string(kSkippedLine) + kSkippedLine);
}

TEST(BadRecordReportTest, IsAFileOfEachRanksOwn) {
  InputOptions options{.rank = 3, .bad_record_report = "bad.jsonl"};
  EXPECT_EQ(BadRecordReportPath(options), "bad.jsonl");
  options.world_size = 4;
  EXPECT_EQ(BadRecordReportPath(options), "bad.jsonl.rank3");
}

TEST(BadRecordReportTest, MayBeNowhere) {
  BadRecordReport report(InputOptions{});
  report.Add(std::vector<BadRecord>{kSkipped});
  EXPECT_EQ(report.path(), "");
}

TEST(BadRecordReportTest, SaysAtStartThatItCannotBeWritten) {
  const TemporaryFolder folder;
  const InputOptions options{.bad_record_report = folder.path()};
  EXPECT_THAT(MessageOf<IoError>([&] { BadRecordReport report(options); }),
              HasSubstr("cannot open: Is a directory"));
}

}  // namespace
}  // namespace infeed
