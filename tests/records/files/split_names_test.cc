#include "records/files/split_names.h"

#include <string_view>

#include "base/error.h"

#include "gtest/gtest.h"

namespace infeed {
namespace split_names_test {

TEST(SplitNames, AreKnownInAnyCase) {
  for (const std::string_view word : {"train", "Training", "TRAIN"}) {
    EXPECT_EQ(SplitNamed(word), "train") << word;
  }
  for (const std::string_view word :
       {"val", "valid", "Validation", "DEV", "eval"}) {
    EXPECT_EQ(SplitNamed(word), "validation") << word;
  }
  for (const std::string_view word : {"Test", "testing"}) {
    EXPECT_EQ(SplitNamed(word), "test") << word;
  }
  for (const std::string_view word : {"", "trains", "tests", "contest"}) {
    EXPECT_EQ(SplitNamed(word), "") << word;
    EXPECT_THROW((void)RequireSplitName(word), UsageError) << word;
  }
}

TEST(SplitNames, AreWordsOfTheirOwnInFileNames) {
  EXPECT_EQ(SplitInName("imagenet2012-train.tfrecord-00000-of-01024"), "train");
  EXPECT_EQ(SplitInName("train00-512x512-798.tfrec"), "train");
  EXPECT_EQ(SplitInName("imagenet1k-validation-03.tar"), "validation");
  EXPECT_EQ(SplitInName("Val_7.tar"), "validation");
  EXPECT_EQ(SplitInName("ILSVRC2012_img_train.tar"), "train");
  EXPECT_EQ(SplitInName("set_dev.zip"), "validation");
  EXPECT_EQ(SplitInName("test.zip"), "test");
  EXPECT_EQ(SplitInName("constraints-0.tar"), "");
  EXPECT_EQ(SplitInName("latest.tar"), "");
}

}  // namespace split_names_test
}  // namespace infeed
