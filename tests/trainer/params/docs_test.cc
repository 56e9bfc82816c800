// docs/options.md lists the parameters of train_resnet and the options of
// infeed.Loader as the program has them. After a change of a table,
//
//   INFEED_UPDATE_DOCS=1 trainer_host_test --gtest_filter='OptionDocsTest.*'
//
// writes the page's lists anew.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

constexpr std::string_view kBegin =
    "<!-- Written by OptionDocsTest; see there. -->\n";
constexpr std::string_view kEnd = "<!-- End of what it writes. -->\n";

// Arguments of Loader itself, which docs/python.md explains, and `repeat`,
// which it refuses.
constexpr std::array<std::string_view, 6> kLoaderArguments = {
    "batch_size", "layout", "rank", "repeat", "training", "world_size"};

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
std::string Item(const OptionInfo& option, const std::string& standard) {
  std::string item =
      "- `" + std::string(option.name) + "` (default " + standard;
  for (const std::string& part :
       {RangeText(option), std::string(option.unit)}) {
    item += part.empty() ? "" : "; " + part;
  }
  return Wrapped(item + "): " + std::string(option.help));
}

std::string Item(const Param& param) { return Item(param, DefaultText(param)); }

std::string Item(const InputOption& option) {
  InputOptions standard;
  return Item(option, DefaultText(option, option.at(standard)));
}

// A heading and a list for each group of --help.
std::string ParameterLists() {
  std::string text;
  for (const ParamGroup& group : ParamGroups()) {
    text += "\n### " + std::string(group.title) + "\n\n";
    for (const Param& param : group.params) {
      text += Item(param);
    }
  }
  return text;
}

// The options that are a parameter as well, by name only, and then the others.
std::string LoaderLists() {
  std::string same, others;
  for (const InputOptionGroup& group : InputOptionGroups()) {
    for (const InputOption& option : group.options) {
      if (std::ranges::find(kLoaderArguments, option.name) !=
          kLoaderArguments.end()) {
        continue;
      }
      const std::string item = Item(option);
      const Param* const param = FindParam(option.name);
      if (param != nullptr && Item(*param) == item) {
        same += (same.empty() ? "`" : ", `") + std::string(option.name) + "`";
      } else {
        others += item;
      }
    }
  }
  return "\n" + Wrapped("As listed above: " + same + ".") + "\n" + others;
}

std::string Lists() {
  return "\n## Parameters of train_resnet\n" + ParameterLists() +
         "\n## Options of infeed.Loader\n" + LoaderLists() + "\n";
}

class OptionDocsTest : public testing::Test {
 protected:
  const std::string path_ = INFEED_DOCS "/options.md";
  std::string page_ = ReadWholeFile(path_, 1 << 20);
};

TEST_F(OptionDocsTest, PageListsParametersAndOptions) {
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

TEST_F(OptionDocsTest, PageNamesTheReferencesOtherParameters) {
  for (const UnsupportedParam& param : UnsupportedParams()) {
    EXPECT_THAT(page_, testing::HasSubstr("`" + std::string(param.name) + "`"));
  }
}

}  // namespace
}  // namespace infeed
