// The help of every flag of every program.

#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/run_program.h"

namespace infeed {
namespace {

// Whether a help text is a sentence of its own: it begins with a capital
// letter, but not with a word that continues the flag's name, and ends with a
// period.
bool IsSentence(std::string_view text) {
  constexpr std::array<std::string_view, 16> kHanging = {
      "Ahead", "As",  "Between", "By",   "For",  "From",  "How",  "In",
      "Of",    "One", "That",    "What", "When", "Which", "With", "Whether"};
  const std::string_view first = text.substr(0, text.find(' '));
  for (const std::string_view word : kHanging) {
    if (first == word) {
      return false;
    }
  }
  return text.size() > 2 && text[0] >= 'A' && text[0] <= 'Z' &&
         text.ends_with('.');
}

class HelpTextsTest : public testing::TestWithParam<const char*> {};

// The help of each flag, with its lines joined. A flag's name begins in column
// 2, its help in column 24.
std::vector<std::string> HelpsIn(const std::string& text) {
  constexpr std::size_t kColumn = 24;
  std::vector<std::string> helps;
  std::istringstream lines(text);
  bool is_flag = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    const bool is_name = line.starts_with("  -");
    is_flag = is_name || (is_flag && begin == kColumn);
    if (is_name) {
      helps.emplace_back();
    }
    // A name that is too long has a line of its own.
    const bool has_help =
        line.size() > kColumn && line[kColumn - 1] == ' ' &&
        (begin == kColumn || (line[kColumn] >= 'A' && line[kColumn] <= 'Z'));
    if (is_flag && has_help) {
      helps.back() += (helps.back().empty() ? "" : " ") + line.substr(kColumn);
    }
  }
  return helps;
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

// Names with long choices are not broken.
void ExpectToFitATerminal(const std::string& help) {
  constexpr std::size_t kColumns = 80;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.find('|') == std::string::npos) {
      EXPECT_LE(line.size(), kColumns) << line;
    }
  }
}

TEST_P(HelpTextsTest, AreSentencesWithExamplesAndWholeWhereAllIsAskedFor) {
  const std::string program = GetParam();
  const ProgramResult help = Succeeded(RunProgram(program, "--help"));
  EXPECT_THAT(help.out, AllOf(HasSubstr("\nUsage: " + program),
                              HasSubstr("\nExamples:\n  " + program)));
  EXPECT_LE(CountFlags(help.out), 28) << help.out;
  ExpectToFitATerminal(help.out);
  const ProgramResult all = Succeeded(RunProgram(program, "--help_all"));
  EXPECT_GE(CountFlags(all.out), CountFlags(help.out));
  ExpectToFitATerminal(all.out);
  const std::vector<std::string> helps = HelpsIn(all.out);
  for (const std::string& text : helps) {
    EXPECT_TRUE(IsSentence(text.substr(0, text.rfind(" [")))) << text;
  }
  EXPECT_GE(helps.size(), 3U);
}

std::vector<const char*> ProgramNames() {
  std::vector<const char*> names = {"imagenet_to_records", "make_demo_images",
                                    "pipeline_throughput", "records",
                                    "train_resnet"};
  if (INFEED_HAS_WORKERS) {
    names.push_back("input_worker");
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, HelpTextsTest,
                         testing::ValuesIn(ProgramNames()));

}  // namespace
}  // namespace infeed
