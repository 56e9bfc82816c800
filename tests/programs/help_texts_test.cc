// The help of every flag of every program, as --help and the manual page have
// it.

#include <sstream>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/sentences.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Programs, HelpTextsTest,
                         testing::Values("imagenet_to_records",
                                         "make_demo_images",
                                         "pipeline_throughput", "records",
                                         "train_resnet"));

}  // namespace
}  // namespace infeed
