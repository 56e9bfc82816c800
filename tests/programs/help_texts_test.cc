// The help of every flag of every program, as --help and the manual page have
// it.

#include <sstream>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/sentences.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HelpTextsTest : public testing::TestWithParam<const char*> {};

// In the page a flag is a line ".TP", one with its name and type, and one with
// its help, with the default behind it: "A sentence. [default]".
TEST_P(HelpTextsTest, AreSentences) {
  const ProgramResult page = RunProgram(GetParam(), "--man_page");
  ASSERT_EQ(page.exit_code, 0) << page.err;
  std::istringstream lines(page.out);
  int flags = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string flag;
    std::string help;
    if (line == ".TP" && std::getline(lines, flag) &&
        std::getline(lines, help)) {
      EXPECT_TRUE(IsSentence(help.substr(0, help.rfind(" [")))) << flag << help;
      ++flags;
    }
  }
  EXPECT_GT(flags, 3);
}

// The flags that a help lists.
int CountFlags(const std::string& help) {
  std::istringstream lines(help);
  int flags = 0;
  for (std::string line; std::getline(lines, line);) {
    flags += line.starts_with("  -") ? 1 : 0;
  }
  return flags;
}

TEST_P(HelpTextsTest, AreShortWithExamplesAndWholeWhereAllIsAskedFor) {
  const std::string help = RunProgram(GetParam(), "--help").out;
  EXPECT_THAT(help, StartsWith("Usage: " + std::string(GetParam())));
  EXPECT_THAT(help, HasSubstr("\nExamples:\n  " + std::string(GetParam())));
  EXPECT_LE(CountFlags(help), 28) << help;
  const std::string all = RunProgram(GetParam(), "--help_all").out;
  EXPECT_GE(CountFlags(all), CountFlags(help));
  EXPECT_THAT(all, Not(HasSubstr("more flags:")));
}

// Examples are commands, which stay whole.
TEST_P(HelpTextsTest, FitTheTerminal) {
  constexpr std::size_t kColumns = 80;
  for (const std::string flag : {"--help", "--help_all"}) {
    std::istringstream lines(RunProgram(GetParam(), flag, "COLUMNS=80").out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), kColumns) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, HelpTextsTest,
                         testing::Values("imagenet_to_records",
                                         "make_demo_images",
                                         "pipeline_throughput", "records",
                                         "train_resnet"));

}  // namespace
}  // namespace infeed
