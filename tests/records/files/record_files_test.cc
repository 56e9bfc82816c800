#include "records/files/record_files.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace record_files_test {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(RecordFiles, AreKnownByShardNamesAndEndings) {
  for (const char* name :
       {"train-00000-of-00008", "train00-512x512-798.tfrec", "a.TFRecord",
        "a.tfrecord.gz", "b.tar", "b.tar.gz", "b.tgz", "photos.ZIP",
        "x-train.tfrecord-00000-of-01024"}) {
    EXPECT_TRUE(IsRecordFileName(name)) << name;
  }
  for (const char* name :
       {".tar", "a.tar.index", "a.gz", "a.jpg", "tar", "dataset.json"}) {
    EXPECT_FALSE(IsRecordFileName(name)) << name;
  }
}

TEST(RecordFiles, CommasInBracesDivideNoList) {
  EXPECT_THAT(SplitAtCommas("a,{b,c}.tar,,d"),
              ElementsAre("a", "{b,c}.tar", "d"));
  EXPECT_THAT(SplitAtCommas(""), SizeIs(0));
}

TEST(RecordFiles, PathsMayHaveCommas) {
  EXPECT_THAT(SplitAtCommas("a\\,b.tar,c.tar"),
              ElementsAre("a,b.tar", "c.tar"));
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a,b.tar", "");
  std::filesystem::create_directories(folder / "x,y");
  const std::string c = folder / "c.tar";
  EXPECT_THAT(DataPaths(folder / "a,b.tar"), ElementsAre(folder / "a,b.tar"));
  EXPECT_THAT(DataPaths(c + "," + (folder / "a,b.tar") + "," + c),
              ElementsAre(c, folder / "a,b.tar", c));
  EXPECT_THAT(DataPaths(c + "," + (folder / "x,y/train-*")),
              ElementsAre(c, folder / "x,y/train-*"));
  EXPECT_THAT(DataPaths("no,such,file"), ElementsAre("no", "such", "file"));
}

TEST(RecordFiles, BracesExpandAsInAShell) {
  EXPECT_THAT(ExpandBraces("a-{008..010}.tar"),
              ElementsAre("a-008.tar", "a-009.tar", "a-010.tar"));
  EXPECT_THAT(ExpandBraces("{a,b}{1..2}"), ElementsAre("a1", "a2", "b1", "b2"));
  EXPECT_THAT(ExpandBraces("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(ExpandBraces("open{1..2"), ElementsAre("open{1..2"));
  EXPECT_THAT(ExpandBraces("s3://b/{0..999}.tar"), SizeIs(1000));
}

TEST(RecordFiles, BracesThatAreNoRangeOrTooManyAreRefused) {
  for (const char* name : {"{3..1}", "{a..c}", "{..2}", "{1..}"}) {
    EXPECT_THROW((void)ExpandBraces(name), UsageError) << name;
  }
  EXPECT_THROW((void)ExpandBraces("{0..1000000}"), UsageError);
  EXPECT_THROW((void)ExpandBraces("{0..1999}{0..1999}"), UsageError);
}

}  // namespace record_files_test
}  // namespace infeed
