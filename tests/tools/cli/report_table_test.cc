#include "tools/cli/report_table.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

TEST(ReportTableTest, RowsAreTextAndJson) {
  const ReportTable report = {
      {"records", 3, "3 records"}, {"", {}, " in 2 shards"}, {"good", true}};
  EXPECT_EQ(RenderText(report), "3 records in 2 shards");
  EXPECT_EQ(RenderJson(report), "{\n  \"records\": 3,\n  \"good\": true\n}\n");
}

TEST(ReportTableTest, ListsHoldReports) {
  const ReportTable report = {
      ListRow("shards", {{{"file", "a", "a "}, {"records", 2, "2\n"}},
                         {{"file", "\xff", "b "}, {"records", 1, "1\n"}}})};
  EXPECT_EQ(RenderText(report), "a 2\nb 1\n");
  const Json json = Json::parse(RenderJson(report));
  EXPECT_EQ(json["shards"][0], Json({{"file", "a"}, {"records", 2}}));
  EXPECT_EQ(RenderText({ListRow("none", {})}), "");
  EXPECT_EQ(Json::parse(RenderJson({ListRow("none", {})}))["none"],
            Json::array());
}

TEST(ReportTableTest, ObjectsHoldReports) {
  const ReportTable report = {
      ObjectRow("jpeg", {{"exif", 2, "EXIF 2"}, {"", {}, "\n"}})};
  EXPECT_EQ(RenderText(report), "EXIF 2\n");
  EXPECT_EQ(Json::parse(RenderJson(report)), Json({{"jpeg", {{"exif", 2}}}}));
}

TEST(ReportTableTest, TablesAlignTheCellsOfTheirItems) {
  const ReportTable report = {
      TableRow("shards", {">records", "shard"},
               {{{"records", 12, "12"}, {"file", "a", "a"}, {"bytes", 345}},
                {{"", {}, "damaged"}, {"file", "b", "b"}}},
               {"12", "total"})};
  EXPECT_EQ(RenderText(report),
            "records  shard\n     12  a\ndamaged  b\n     12  total\n");
  EXPECT_EQ(Json::parse(RenderJson(report))["shards"],
            Json::parse(R"([{"records": 12, "file": "a", "bytes": 345},
                            {"file": "b"}])"));
}

}  // namespace
}  // namespace infeed
