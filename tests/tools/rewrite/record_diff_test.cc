#include "tools/rewrite/record_diff.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/files/open_source.h"
#include "tests/support/bytes.h"
#include "tests/support/example_wire.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::record_diff_test {

using Kind = KeyDifference::Kind;
using Paths = std::vector<std::string>;

// A Feature of one text.
std::string Text(const std::string& text) {
  return WireField(1, WireField(1, text));
}

const std::string kCat = WireExample({{"a", Text("1")}, {"b", Text("2")}});
const std::string kSameCat = WireExample({{"b", Text("2")}, {"a", Text("1")}});
const std::string kDog = WireExample({{"a", Text("1")}, {"b", Text("3")}});

TEST(CompareExamplesTest, NamesTheKeysThatDiffer) {
  EXPECT_THAT(CompareExamples(AsBytes(kCat), AsBytes(kSameCat)), IsEmpty());
  const std::string other =
      WireExample({{"0", Text("1")}, {"b", Text("3")}, {"z", Text("1")}});
  const auto keys = CompareExamples(AsBytes(kCat), AsBytes(other));
  ASSERT_EQ(keys.size(), 4U);
  const auto is = [&](std::size_t i, const std::string& key, Kind kind) {
    return keys[i].key == key && keys[i].kind == kind;
  };
  EXPECT_TRUE(is(0, "0", Kind::kOnlyInB));
  EXPECT_TRUE(is(1, "a", Kind::kOnlyInA));
  EXPECT_TRUE(is(2, "b", Kind::kOtherValues));
  EXPECT_TRUE(is(3, "z", Kind::kOnlyInB));
}

TEST(RecordHashTest, EqualContentsHaveEqualHashes) {
  EXPECT_EQ(HashRecord(AsBytes(kCat)), HashRecord(AsBytes(kSameCat)));
  std::vector<RecordHash> hashes;
  for (const std::string& payload :
       {kCat, kDog, std::string("no Example"), std::string("no example"),
        std::string("no Example\0", 11), std::string(),
        WireExample({{"a", Text("1")}}),
        WireExample({{"a", WireField(3, WireField(1, "1"))}}),
        WireExample({{"ab", Text("")}}), WireExample({{"a", Text("b")}}),
        WireExample({{"a", Text("b")}, {"b", ""}})}) {
    for (const RecordHash& hash : hashes) {
      EXPECT_NE(hash, HashRecord(AsBytes(payload))) << payload;
    }
    hashes.push_back(HashRecord(AsBytes(payload)));
  }
}

class RecordDiffTest : public ::testing::Test {
 protected:
  // Writes a set of shards.
  Paths Set(const std::string& name,
            const std::vector<std::vector<std::string>>& shards) {
    Paths paths;
    for (const std::vector<std::string>& shard : shards) {
      RecordFile file;
      for (const std::string& payload : shard) {
        file.Add(payload);
      }
      paths.push_back(
          file.Write(folder_ / (name + std::to_string(paths.size()))));
    }
    return paths;
  }
  static DiffSet SetOf(const Paths& paths) {
    return {.paths = paths,
            .open = [&](std::size_t i) { return OpenSource(paths[i]); }};
  }
  static DiffReport Diff(const Paths& a, const Paths& b,
                         const DiffOptions& options = {}) {
    return DiffRecords(SetOf(a), SetOf(b), options, [] {});
  }

  const TemporaryFolder folder_;
};

constexpr DiffOptions kUnordered = {.ordered = false};

TEST_F(RecordDiffTest, DoesNotMindHowASetIsCut) {
  const Paths a = Set("a", {{"x", kCat}, {}, {"y"}});
  const Paths b = Set("b", {{"x", kSameCat, "y"}});
  EXPECT_EQ(Diff(a, b).differences, 0);
  EXPECT_EQ(Diff(a, b, kUnordered).differences, 0);
  EXPECT_EQ(RenderText(DiffReportTable(Diff(a, b))),
            "3 records in A, 3 in B, the same\n");
}

TEST_F(RecordDiffTest, SaysWhereRecordsDifferAndInWhat) {
  const Paths a = Set("a", {{"x"}, {kCat, "y", "z"}});
  const Paths b = Set("b", {{"x", kDog, "Y"}});
  const DiffReport report = Diff(a, b);
  EXPECT_EQ(report.records_a, 4);
  EXPECT_EQ(report.records_b, 3);
  EXPECT_EQ(report.differences, 3);
  const std::string size = std::to_string(kCat.size() + 16);
  EXPECT_EQ(RenderText(DiffReportTable(report)),
            a[1] + ": record 0 at byte 0 and " + b[0] +
                ": record 1 at byte 17: b differs\n" + a[1] +
                ": record 1 at byte " + size + " and " + b[0] +
                ": record 2 at byte " + std::to_string(kDog.size() + 33) +
                ": other bytes\nonly in A: " + a[1] + ": record 2 at byte " +
                std::to_string(kCat.size() + 33) +
                "\n4 records in A, 3 in B, 3 differ\n");
  const auto json = nlohmann::json::parse(RenderJson(DiffReportTable(report)));
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["first"][0]["a"]["file"], a[1]);
  EXPECT_EQ(json["first"][0]["b"]["offset"], 17);
  EXPECT_EQ(json["first"][0]["keys"]["b"], "differs");
  EXPECT_EQ(json["first"][2]["b"], nullptr);
}

TEST_F(RecordDiffTest, ComparesWithoutOrderHowOftenEachIsThere) {
  const Paths a = Set("a", {{"x", "y", kCat}, {"x", "x"}});
  const Paths b = Set("b", {{kSameCat, "x"}, {"y", "x", "w"}});
  EXPECT_GT(Diff(a, b).differences, 2);
  const DiffReport report = Diff(a, b, kUnordered);
  EXPECT_EQ(report.differences, 2);
  ASSERT_EQ(report.first.size(), 2U);
  EXPECT_EQ(report.first[0].a->path, a[0]);
  EXPECT_EQ(report.first[0].a->record, 0);
  EXPECT_EQ(report.first[1].b->path, b[1]);
  EXPECT_EQ(report.first[1].b->record, 2);
}

TEST_F(RecordDiffTest, EndsAtBadRecordsOrLeavesThemOut) {
  const Paths a = {
      RecordFile().Add("x").Add("y").FlipByte(17 + 12).Add("z").Write(folder_ /
                                                                      "a")};
  const Paths b = Set("b", {{"x", "z"}});
  for (const bool ordered : {true, false}) {
    EXPECT_THAT(
        MessageOf<DataError>([&] { (void)Diff(a, b, {.ordered = ordered}); }),
        HasSubstr(a[0] + ": record 1 at byte 17"));
    const DiffReport report =
        Diff(a, b, {.ordered = ordered, .skip_bad = true});
    EXPECT_EQ(report.differences, 0);
    EXPECT_EQ(report.left_out, 1);
  }
}

}  // namespace infeed::record_diff_test
