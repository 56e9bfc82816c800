#include "records/example/missing_label.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/example/builder.h"
#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace missing_label_test {

using Texts = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

std::string Why(const std::vector<ExampleFeature>& features) {
  return WhyNoLabel(AsBytes(BuildExample(features)), "label");
}

// Describes a label that is not a number.
std::string WhyOf(const std::vector<ExampleFeature>& features) {
  std::string why = Why(features);
  const std::string begin = "there is no label: label ";
  const std::string end = "; a label is one whole number, from 0 or 1 on";
  EXPECT_TRUE(why.starts_with(begin) && why.ends_with(end)) << why;
  return why.substr(begin.size(), why.size() - begin.size() - end.size());
}

TEST(MissingLabelTest, NamesTheKindOfTheLabel) {
  EXPECT_EQ(WhyOf({{"label", Texts{"cat\n"}}}), R"(is the text "cat\n")");
  EXPECT_EQ(WhyOf({{"label", Texts{"a", "b"}}}), "has 2 texts");
  EXPECT_EQ(WhyOf({{"label", Floats{2.5}}}), "is the float 2.5");
  EXPECT_EQ(WhyOf({{"label", Floats{0, 1, 0}}}),
            "has 3 numbers, a one-hot label");
  EXPECT_EQ(WhyOf({{"label", Numbers{0, 0, 1}}}),
            "has 3 numbers, a one-hot label");
  EXPECT_EQ(WhyOf({{"label", Numbers{4, 2}}}), "has 2 numbers");
  EXPECT_EQ(WhyOf({{"label", Numbers{-1}}}), "is -1");
  EXPECT_EQ(WhyOf({{"label", {}}}), "is empty");
}

TEST(MissingLabelTest, NamesTheKeysOfTheRecord) {
  EXPECT_EQ(Why({{"image", Texts{"?"}}, {"y", Numbers{1}}}),
            "there is no label: no label; the record has image, y: give "
            "label_key");
  EXPECT_EQ(Why({}), "there is no label: no label");
}

TEST(MissingLabelTest, NamesTheMembersOfASample) {
  const ExampleFeature key = {"__key__", Texts{"a"}};
  EXPECT_EQ(Why({key}), "there is no label: it has no .cls and no .json");
  EXPECT_EQ(Why({key, {"json", Texts{"{}"}}}),
            "there is no label: it has no .cls, and no label, cls or class in "
            "its .json");
  EXPECT_EQ(Why({key, {"json", Texts{R"({"label": "cat"})"}}}),
            "there is no label: it has no .cls, and label in its .json is "
            "\"cat\", not a whole number");
  EXPECT_EQ(Why({key, {"json", Numbers{1}}}),
            "there is no label: it has no .cls and no .json");
}

}  // namespace missing_label_test
}  // namespace infeed
