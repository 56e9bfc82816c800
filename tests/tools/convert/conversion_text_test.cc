#include "tools/convert/conversion_text.h"

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

ConversionReport MadeReport() {
  ConversionReport report;
  report.info.classes = {"cat", "dog"};
  report.info.splits = {
      {.name = "train",
       .records = 3,
       .shards = {{"train-00000-of-00001", 3, 2000, "00000000"}}},
      {.name = "test", .records = 0, .shards = {}}};
  return report;
}

TEST(ConversionTableTest, SaysInTextAndJsonWhatWasConverted) {
  ConversionReport report = MadeReport();
  report.kept_shards = 1;
  report.seek_indexes = 2;
  report.skipped = {{"a.jpg", "cut off"}};
  const ReportTable table = ConversionTable(report, "out");
  EXPECT_EQ(RenderText(table),
            "train              3 images      1 shard         2.0 kB  "
            "out/train-00000-of-00001\n"
            "2 classes in out/labels.txt\n"
            "seek index: 2 of 3 images\n"
            "1 shard of an earlier run was kept\n"
            "1 bad image was left out\n"
            "out/.infeed/conversion_report.json lists them\n");
  const Json json = Json::parse(RenderJson(table));
  EXPECT_EQ(json["splits"], Json::parse(R"([
      {"name": "train", "records": 3, "shards": 1, "bytes": 2000},
      {"name": "test", "records": 0, "shards": 0, "bytes": 0}])"));
  EXPECT_EQ(json["classes"], 2);
  EXPECT_EQ(json["seek_indexes"], 2);
  EXPECT_EQ(json["skipped_images"], 1);
  EXPECT_EQ(json["skipped"][0]["reason"], "cut off");
  EXPECT_EQ(json["reencoded"], Json::array());
}

TEST(ConversionTableTest, NamesTheTaskOfAShare) {
  ConversionReport report = MadeReport();
  report.share = {.index = 1, .count = 4};
  const ReportTable table = ConversionTable(report, "out");
  EXPECT_THAT(RenderText(table),
              HasSubstr("\ntask 1 of 4 is done; --finish once all are\n"));
  const Json json = Json::parse(RenderJson(table));
  EXPECT_EQ(json["num_tasks"], 4);
  EXPECT_TRUE(json["seek_indexes"].is_null());
}

TEST(NoticesRowTest, HasALineForEachNotice) {
  const ReportRow row = NoticesRow({{"PSD files left out", 2, "a\nb", "no"}});
  EXPECT_THAT(row.text, AllOf(StartsWith("PSD files left out: 2, such as a"),
                              HasSubstr("b; no\n")));
  EXPECT_EQ(row.value[0]["example"], "a\nb");
}

}  // namespace
}  // namespace infeed
