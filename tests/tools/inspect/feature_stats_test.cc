#include "tools/inspect/feature_stats.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace infeed::feature_stats_test {

using Bytes = std::vector<std::string_view>;
using Floats = std::vector<float>;
using Ids = std::vector<std::int64_t>;
using Records = std::vector<std::vector<ExampleFeature>>;

FeatureTable TableOf(const Records& records) {
  FeatureTable table;
  for (const std::vector<ExampleFeature>& record : records) {
    table.Add(record);
  }
  return table;
}

std::vector<std::string> CellsOf(const ReportTable& item) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < kFeatureColumns.size(); ++i) {
    cells.push_back(item.at(i).text);
  }
  return cells;
}

// Three texts with their ids and targets.
Records Texts() {
  return {{{"ids", Ids{7, -2, 9}}, {"target", Floats{0}}, {"txt", Bytes{"ab"}}},
          {{"ids", Ids{400}}, {"target", Floats{0.1F}}, {"txt", Bytes{"c"}}},
          {{"ids", Ids{5, 6}},
           {"target", Floats{std::numeric_limits<float>::quiet_NaN()}},
           {"txt", Bytes{"defg"}}}};
}

TEST(FeatureStats, SayWhatEachFeatureHolds) {
  const std::vector<ReportTable> items = FeatureItems(TableOf(Texts()));
  ASSERT_EQ(items.size(), 3U);
  EXPECT_THAT(CellsOf(items[0]),
              ElementsAre("ids", "int64", "3", "1", "2", "3", "-2..400"));
  EXPECT_THAT(CellsOf(items[1]), ElementsAre("target", "float", "3", "1", "1",
                                             "1", "0..0.1, 1 not finite"));
  EXPECT_THAT(CellsOf(items[2]),
              ElementsAre("txt", "bytes", "3", "1", "1", "1", "1 B..4 B"));
}

TEST(FeatureStats, TellListsThatDifferFromOnesThatAreMissing) {
  const std::vector<ReportTable> items = FeatureItems(
      TableOf({{{"a", Ids{1}}, {"b", {}}},
               {{"a", Floats{1}}, {"b", {}}, {"c", Ids{}}, {"d", Ids{5}}},
               {{"d", {}}}}));
  EXPECT_THAT(CellsOf(items[0]),
              ElementsAre("a", "float+int64", "2", "1", "1", "1", "-"));
  EXPECT_THAT(CellsOf(items[1]),
              ElementsAre("b", "nothing", "0", "-", "-", "-", "-"));
  EXPECT_THAT(CellsOf(items[2]),
              ElementsAre("c", "int64", "1", "0", "0", "0", "-"));
  EXPECT_THAT(CellsOf(items[3]),
              ElementsAre("d", "int64", "1", "1", "1", "1", "5"));
}

TEST(FeatureStats, OfPartsMergeToTheWhole) {
  const Records records = Texts();
  FeatureTable merged = TableOf({records[0]});
  merged.Merge(TableOf({records[1], records[2]}));
  const FeatureTable whole = TableOf(records);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(CellsOf(FeatureItems(merged)[i]),
              CellsOf(FeatureItems(whole)[i]));
  }
  EXPECT_EQ(LoaderCode(merged, 3, {}), LoaderCode(whole, 3, {}));
}

// Whichever thread sees which record, the first keys stay, with all of theirs.
TEST(FeatureStats, KeepTheFirstOfTooManyKeys) {
  constexpr int kKeys = 2 * FeatureTable::kMost;
  std::vector<std::string> names;
  for (int i = 0; i < kKeys; ++i) {
    names.push_back(std::to_string(1000 + i));
  }
  FeatureTable up;
  FeatureTable down;
  for (int i = 0; i < kKeys; ++i) {
    up.Add(std::vector<ExampleFeature>{{names[i], Ids{1}}});
    down.Add(std::vector<ExampleFeature>{{names[kKeys - 1 - i], Ids{1}}});
  }
  up.Merge(down);
  EXPECT_TRUE(up.is_cut);
  ASSERT_EQ(up.by_key.size(), FeatureTable::kMost);
  EXPECT_EQ(up.by_key.rbegin()->first,
            std::to_string(1000 + FeatureTable::kMost - 1));
  for (const auto& [key, stats] : up.by_key) {
    EXPECT_EQ(stats.records(), 2) << key;
  }
}

TEST(FeatureStats, GiveTheCodeThatReadsThem) {
  const std::vector<std::string> one = {"/data/train-00000-of-00001"};
  EXPECT_EQ(LoaderCode(TableOf(Texts()), 3, one),
            R"(infeed.Loader("/data/train-00000-of-00001", batch_size=32, )"
            R"(views=(), fields={
    "ids": "int64",
    "target": infeed.Field("float32", ()),
    "txt": infeed.Field("bytes", ())})
)");
  // Of four records one has no features.
  EXPECT_THAT(LoaderCode(TableOf(Texts()), 4, one),
              HasSubstr("\"target\": \"float32\",\n    \"txt\": \"bytes\"})"));
}

TEST(FeatureStats, GiveCodeForShapesAndLongLists) {
  const std::string page(5000, 'x');
  const std::string code =
      LoaderCode(TableOf({{{"a\"b", Ids{1, 2}},
                           {"mixed", Ids{1}},
                           {"nothing", {}},
                           {"page", Bytes{page, "y"}},
                           {"wide", Floats(9000, 1.0F)}},
                          {{"a\"b", Ids{3, 4}},
                           {"mixed", Floats{1}},
                           {"page", Bytes{"y", "y"}},
                           {"wide", Floats(9000, 1.0F)}}}),
                 2, std::vector<std::string>{"d/train-0", "d/train-1"});
  EXPECT_EQ(code, R"(infeed.Loader("d/train-*", batch_size=32, views=(), )"
                  R"(max_field_bytes=5017, fields={
    "a\"b": infeed.Field("int64", 2),
    "page": "bytes",
    "wide": infeed.Field("float32", 9000)})
)");
  EXPECT_THAT(
      LoaderCode({}, 0, std::vector<std::string>{"a/train/x", "a/val/y"}),
      HasSubstr(R"(infeed.Loader(["a/train/", "a/val/"], )"));
}

}  // namespace infeed::feature_stats_test
