// Compares the lists of docs/parameters.md with the table. After a change of
// the table,
//
//   INFEED_UPDATE_DOCS=1 trainer_host_test --gtest_filter='ParamDocsTest.*'
//
// writes the page's lists anew.

#include <cstdlib>
#include <sstream>
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

// A list's item in lines of at most 120 columns.
std::string Wrapped(const std::string& item) {
  std::istringstream words(item);
  std::string lines, line, word;
  while (words >> word) {
    if (line.size() + 1 + word.size() > 120) {
      lines += line + "\n";
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line + "\n";
}

// An item of a list: name, default, values, unit, and what it does.
std::string Item(const Param& param) {
  std::string item =
      "- `" + std::string(param.name) + "` (default " + DefaultText(param);
  for (const std::string& part : {RangeText(param), std::string(param.unit)}) {
    item += part.empty() ? "" : "; " + part;
  }
  return Wrapped(item + "): " + std::string(param.help));
}

// A heading and a list for each group of --help.
std::string Lists() {
  std::string text;
  for (const ParamGroup& group : ParamGroups()) {
    text += "\n### " + std::string(group.title) + "\n\n";
    for (const Param& param : group.params) {
      text += Item(param);
    }
  }
  return text + "\n";
}

class ParamDocsTest : public testing::Test {
 protected:
  const std::string path_ = INFEED_DOCS "/parameters.md";
  std::string page_ = ReadWholeFile(path_, 1 << 20);
};

TEST_F(ParamDocsTest, ListsTheParameters) {
  const std::size_t begin = page_.find(kBegin) + kBegin.size();
  const std::size_t end = page_.find(kEnd);
  ASSERT_LE(begin, end);
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("INFEED_UPDATE_DOCS") != nullptr) {
    WriteFileAtomically(path_, page_.replace(begin, end - begin, Lists()));
    return;
  }
  EXPECT_EQ(page_.substr(begin, end - begin), Lists())
      << "see tests/trainer/params/docs_test.cc";
}

TEST_F(ParamDocsTest, NamesTheReferencesOtherParameters) {
  for (const UnsupportedParam& param : UnsupportedParams()) {
    EXPECT_THAT(page_, testing::HasSubstr("`" + std::string(param.name) + "`"));
  }
}

}  // namespace
}  // namespace infeed
