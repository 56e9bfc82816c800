#include "tools/train_resnet/doctor_report.h"

#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace infeed {
namespace {

TEST(DoctorReportTest, FindingsBecomeTextAndJson) {
  const std::vector<Finding> findings = {{"cores", "2", ""},
                                         {"memory", "4 MiB\xff", "buy some"}};
  const ReportTable report = DoctorReport(findings);
  EXPECT_EQ(RenderText(report),
            "ok   cores            2\n"
            "WARN memory           4 MiB\xff\n"
            "                      -> buy some\n");
  const auto json = nlohmann::json::parse(RenderJson(report));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["warnings"], 1);
  EXPECT_EQ(json["findings"][0]["ok"], true);
  EXPECT_EQ(json["findings"][1]["advice"], "buy some");
}

}  // namespace
}  // namespace infeed
