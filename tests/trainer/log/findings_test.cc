#include "trainer/log/findings.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace infeed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(FindingsTest, FindingsBecomeTextAndJson) {
  const std::vector<Finding> findings = {{"cores", "2", ""},
                                         {"memory", "4 MiB\xff", "buy some"}};
  EXPECT_THAT(FindingsText(findings),
              AllOf(HasSubstr("ok   cores            2\n"),
                    HasSubstr("WARN memory"), HasSubstr("-> buy some\n")));
  const auto json = nlohmann::json::parse(FindingsJson(findings));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["warnings"], 1);
  EXPECT_EQ(json["findings"][0]["ok"], true);
  EXPECT_EQ(json["findings"][1]["advice"], "buy some");
}

}  // namespace
}  // namespace infeed
