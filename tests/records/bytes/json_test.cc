#include "records/bytes/json.h"

#include <string>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

std::string Nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonTest, ParsesValuesUpToADepth) {
  EXPECT_EQ(ParseJson<Json>(R"({"a": [1, "[[["]})").dump(),
            R"({"a":[1,"[[["]})");
  EXPECT_TRUE(ParseJson<Json>(Nested(kMaxJsonDepth)).is_array());
  EXPECT_THAT([] { (void)ParseJson<Json>(Nested(kMaxJsonDepth + 1)); },
              ThrowsMessage<Json::exception>(HasSubstr("nested more than 32")));
  EXPECT_THROW((void)ParseJson<Json>("{"), Json::exception);
}

TEST(JsonTest, SurvivesAnyDepth) {
  for (const char* opening : {"[", R"({"a":)"}) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) {
      text += opening;
    }
    EXPECT_THROW((void)ParseJson<Json>(text), Json::exception);
    EXPECT_TRUE(ParseJsonOrDiscard<Json>(text).is_discarded());
  }
}

TEST(JsonTest, LimitsTheKeysThatAreSearchedOneByOne) {
  std::string keys = R"({"k": 0)";
  for (int i = 1; i < kMaxOrderedKeys; ++i) {
    keys += ",\"" + std::to_string(i) + "\":0";
  }
  EXPECT_EQ(ParseJson<Json>(keys + "}").size(), kMaxOrderedKeys);
  EXPECT_THAT([&] { (void)ParseJson<Json>(keys + R"(,"l": 0})"); },
              ThrowsMessage<Json::exception>(HasSubstr("10000 keys")));
  EXPECT_EQ(ParseJson<nlohmann::json>(keys + R"(,"l": 0})").size(),
            kMaxOrderedKeys + 1);
}

TEST(JsonTest, RefusesMoreTextThanAnyOfOurFilesHas) {
  const std::string text(kMaxJsonBytes + 1, ' ');
  EXPECT_THAT([&] { (void)ParseJson<Json>(text); },
              ThrowsMessage<Json::exception>(HasSubstr("more than 256 MiB")));
}

TEST(JsonFaultTest, NamesTheFaultInOurWords) {
  const auto fault = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const nlohmann::json::exception& error) {
      return JsonFault(error);
    }
    return "none";
  };
  const auto parse = [](const std::string& text) {
    return ParseJson<nlohmann::ordered_json>(text);
  };
  EXPECT_EQ(fault([&] { (void)parse("{\"a\": x}"); }), "not JSON at byte 7");
  EXPECT_EQ(fault([&] { (void)parse(""); }), "not JSON at byte 1");
  EXPECT_EQ(fault([&] { (void)parse("{}").at("a"); }), "a value is missing");
  EXPECT_EQ(fault([&] { (void)parse("[]").at("a"); }),
            "a value is of another type");
  EXPECT_EQ(fault([&] { (void)parse("\"a\"").get<int>(); }),
            "a value is of another type");
  EXPECT_EQ(fault([&] { (void)parse(std::string(99, '[')); }),
            "nested more than 32 levels deep");
}

}  // namespace
}  // namespace infeed
