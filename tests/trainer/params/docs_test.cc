// docs/parameters.md has the table of parameters as the program has it. After
// a change of the table,
//
//   INFEED_UPDATE_DOCS=1 trainer_host_test --gtest_filter='ParamDocsTest.*'
//
// writes the page's table anew.

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "pipeline/order/option_text.h"
#include "trainer/params/table.h"
#include "trainer/params/unsupported.h"

namespace infeed {
namespace {

constexpr std::string_view kBegin =
    "<!-- Written by ParamDocsTest; see there. -->\n";
constexpr std::string_view kEnd = "<!-- End of what it writes. -->\n";

std::string Row(const Param& param) {
  std::string row;
  for (const std::string& cell :
       {"`" + std::string(param.name) + "`", DefaultText(param),
        RangeText(param), std::string(param.unit), std::string(param.help)}) {
    row += "| " + cell + " ";
  }
  return row + "|\n";
}

// A heading and a table for each group of --help.
std::string Tables() {
  std::string text;
  for (const ParamGroup& group : ParamGroups()) {
    text += "\n### " + std::string(group.title) +
            "\n\n| name | default | values | unit | what it does |\n"
            "|---|---|---|---|---|\n";
    for (const Param& param : group.params) {
      text += Row(param);
    }
  }
  return text + "\n";
}

class ParamDocsTest : public testing::Test {
 protected:
  const std::string path_ = INFEED_DOCS "/parameters.md";
  std::string page_ = ReadWholeFile(path_, 1 << 20);
};

TEST_F(ParamDocsTest, HasTheTableOfParameters) {
  const std::size_t begin = page_.find(kBegin) + kBegin.size();
  const std::size_t end = page_.find(kEnd);
  ASSERT_LE(begin, end);
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("INFEED_UPDATE_DOCS") != nullptr) {
    WriteFileAtomically(path_, page_.replace(begin, end - begin, Tables()));
    return;
  }
  EXPECT_EQ(page_.substr(begin, end - begin), Tables())
      << "see tests/trainer/params/docs_test.cc";
}

TEST_F(ParamDocsTest, NamesTheReferencesOtherParameters) {
  for (const UnsupportedParam& param : UnsupportedParams()) {
    EXPECT_THAT(page_, testing::HasSubstr("`" + std::string(param.name) + "`"));
  }
}

}  // namespace
}  // namespace infeed
