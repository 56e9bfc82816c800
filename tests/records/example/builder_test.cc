#include "records/example/builder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records/example/imagenet_example.h"

namespace infeed {
namespace {

using Texts = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;

TEST(BuildExampleTest, IsTheInverseOfListFeatures) {
  const std::vector<ExampleFeature> features = {
      {.key = "empty", .values = {}},
      {.key = "ids", .values = Numbers{3, -1, INT64_MAX}},
      {.key = "names", .values = Texts{"a", "", "b\0c"}},
      {.key = "scores", .values = std::vector<float>{0.5F, -1}}};
  const std::string bytes = BuildExample(features);
  const std::vector<ExampleFeature> read =
      ListFeatures(std::as_bytes(std::span(bytes)));
  ASSERT_EQ(read.size(), features.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].key, features[i].key);
    EXPECT_EQ(read[i].values, features[i].values);
  }
}

TEST(BuildExampleTest, OrdersKeys) {
  const ExampleFeature a = {.key = "a", .values = Numbers{1}};
  const ExampleFeature b = {.key = "b", .values = Numbers{2}};
  EXPECT_EQ(BuildExample(std::vector{b, a}), BuildExample(std::vector{a, b}));
}

TEST(BuildExampleTest, WritesWhatTheImagenetParserReads) {
  const std::string bytes = BuildExample(std::vector<ExampleFeature>{
      {.key = "image/class/label", .values = Numbers{7}},
      {.key = "image/encoded", .values = Texts{"jpeg"}}});
  const ImagenetExampleView view =
      ParseImagenetExample(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(view.label, 7);
  EXPECT_EQ(view.encoded.size(), 4);
}

}  // namespace
}  // namespace infeed
