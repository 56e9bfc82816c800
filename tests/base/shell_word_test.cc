#include "base/shell_word.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ShellWordTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShellWord("runs/a-1_%=.jpg"), "runs/a-1_%=.jpg");
  EXPECT_EQ(ShellWord("my runs"), "'my runs'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a\nb"), "'a?b'");
}

}  // namespace
}  // namespace infeed
