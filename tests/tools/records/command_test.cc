#include "tools/records/command.h"

#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(ShardArgumentsTest, SkipWhatAShellNamesBesideShards) {
  std::vector<std::string> paths = {"s/dataset.json",
                                    "s/labels.txt",
                                    "s/train-00000-of-00001",
                                    "s/.infeed",
                                    "s/old.tfrecord",
                                    "s/train-00000-of-00001.gz",
                                    "s/train-00000-of-00001.idx"};
  EXPECT_THAT(TakeSideFiles(paths),
              ElementsAre("s/dataset.json", "s/labels.txt", "s/.infeed",
                          "s/train-00000-of-00001.idx"));
  EXPECT_THAT(paths, ElementsAre("s/train-00000-of-00001", "s/old.tfrecord",
                                 "s/train-00000-of-00001.gz"));
}

TEST(ShardArgumentsTest, TakeFoldersAndPatternsAsTheyAre) {
  std::vector<std::string> paths = {
      ".", "..", "s", "s.d/", "s/train-*", "s3://b.c/train-00000-of-00001"};
  EXPECT_THAT(TakeSideFiles(paths), IsEmpty());
  EXPECT_EQ(paths.size(), 6U);
}

TEST(ShardArgumentsTest, TakeASideFileThatIsAlone) {
  std::vector<std::string> paths = {"s/dataset.json"};
  EXPECT_THAT(TakeSideFiles(paths), IsEmpty());
  EXPECT_THAT(paths, ElementsAre("s/dataset.json"));
}

TEST(ShardArgumentsTest, SkippedFilesAreCountedWithAnExample) {
  EXPECT_EQ(SkippedText({}), "");
  EXPECT_EQ(SkippedText({"a"}), "skipped a, which is not a shard");
  EXPECT_EQ(SkippedText({"a", "b"}),
            "skipped 2 files that are not shards, such as a");
}

TEST(PutReportTest, AFullDiskDoesNotCostTheText) {
  testing::internal::CaptureStdout();
  EXPECT_THROW(PutReport("/dev/full", {{"records", 3, "3 records\n"}}),
               IoError);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "3 records\n");
}

// A signal that came too late to stop the work makes a full disk no reason to
// do it again.
TEST(PutReportTest, AReportAfterASignalFailsAsAReport) {
  testing::internal::CaptureStdout();
  EXPECT_THROW((void)PutReportOf({.json = "/dev/full"},
                                 [](const Interruption& interruption) {
                                   ::kill(::getpid(), SIGTERM);
                                   EXPECT_THROW(
                                       for (;;) { interruption.Check(); },
                                       StoppedError);
                                   return ReportTable();
                                 }),
               IoError);
  (void)testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace infeed
