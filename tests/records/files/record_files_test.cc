#include "records/files/record_files.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/throws.h"

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

TEST(RecordFiles, NamesSayTheSplitInAWordOfItsOwn) {
  EXPECT_EQ(SplitInName("imagenet2012-train.tfrecord-00000-of-01024"), "train");
  EXPECT_EQ(SplitInName("train00-512x512-798.tfrec"), "train");
  EXPECT_EQ(SplitInName("imagenet1k-validation-03.tar"), "validation");
  EXPECT_EQ(SplitInName("Val_7.tar"), "validation");
  EXPECT_EQ(SplitInName("test.zip"), "test");
  EXPECT_EQ(SplitInName("constraints-0.tar"), "");
  EXPECT_EQ(SplitInName("latest.tar"), "");
}

TEST(RecordFiles, CommasInBracesDivideNoList) {
  EXPECT_THAT(SplitAtCommas("a,{b,c}.tar,,d"),
              ElementsAre("a", "{b,c}.tar", "d"));
  EXPECT_THAT(SplitAtCommas(""), SizeIs(0));
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
