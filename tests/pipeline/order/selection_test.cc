#include "pipeline/order/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/selection_files.h"
#include "records/files/text_lines.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::selection_test {

constexpr std::uint64_t kSeed = 5;

RecordGroup Range(std::int64_t first, std::int64_t count, double weight = 1) {
  return {.name = "range", .range = {first, count}, .weight = weight};
}

RecordGroup Weighted(std::vector<double> weights, double weight = 1) {
  return {.name = "weighted",
          .range = {0, std::ssize(weights)},
          .weight = weight,
          .weights = std::move(weights)};
}

std::vector<std::int64_t> Records(const Selection& selection,
                                  std::uint32_t epoch) {
  std::vector<std::int64_t> records;
  for (std::int64_t place = 0; place < selection.places(); ++place) {
    records.push_back(selection.RecordAt(kSeed, epoch, place));
  }
  return records;
}

// How often each record comes in some epochs.
std::map<std::int64_t, int> Counts(const Selection& selection,
                                   std::uint32_t epochs) {
  std::map<std::int64_t, int> counts;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    for (const std::int64_t record : Records(selection, epoch)) {
      ++counts[record];
    }
  }
  return counts;
}

SampleOrder Ordered(std::shared_ptr<const Selection> selection,
                    Shuffle shuffle) {
  return {
      {30, 70},
      {.shuffle = shuffle, .seed = kSeed, .selection = std::move(selection)}};
}

TEST(SelectionTest, IsThePlainOrderWhereItTakesAll) {
  const auto all = std::make_shared<const Selection>(
      std::vector<RecordGroup>{Range(0, 100)});
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kNone}) {
    const SampleOrder selected = Ordered(all, shuffle);
    const SampleOrder plain = Ordered(nullptr, shuffle);
    for (std::int64_t i = 0; i < 100; ++i) {
      ASSERT_EQ(selected.Epoch(3).RecordAt(i), plain.Epoch(3).RecordAt(i));
    }
  }
}

TEST(SelectionTest, HasEachRecordOfASubsetOnceInEveryEpoch) {
  const auto subset = std::make_shared<const Selection>(
      std::vector<RecordGroup>{{.name = "list", .ids = {7, 3, 99, 41}}});
  EXPECT_TRUE(subset->is_subset());
  EXPECT_EQ(subset->last_record(), 99);
  const SampleOrder own = Ordered(subset, Shuffle::kNone);
  const SampleOrder global = Ordered(subset, Shuffle::kGlobal);
  std::vector<std::int64_t> in_order;
  std::vector<std::int64_t> shuffled;
  for (std::int64_t i = 0; i < 4; ++i) {
    in_order.push_back(own.Epoch(8).RecordAt(i));
    shuffled.push_back(global.Epoch(8).RecordAt(i));
  }
  EXPECT_THAT(in_order, ElementsAre(7, 3, 99, 41));
  EXPECT_THAT(shuffled, ::testing::UnorderedElementsAre(7, 3, 99, 41));
}

TEST(SelectionTest, BalancesGroupsOfAnySize) {
  // 100 places of records 0..9, 100 of 10..99, 100 of 100..299.
  const Selection selection({Range(0, 10), Range(10, 90), Range(100, 200)});
  EXPECT_EQ(selection.places(), 300);
  for (const std::size_t group : {0U, 1U, 2U}) {
    EXPECT_EQ(selection.places_of(group), 100);
  }
  EXPECT_FALSE(selection.is_subset());
  // In nine epochs each of the first comes 90 times, of the second 10 times,
  // and of the third four or five times, but never two more than another.
  for (const auto& [record, count] : Counts(selection, 9)) {
    const int expected = record < 10 ? 90 : record < 100 ? 10 : 4;
    EXPECT_GE(count, expected) << record;
    EXPECT_LE(count, expected + (record < 100 ? 0 : 1)) << record;
  }
}

TEST(SelectionTest, GoesThroughAGroupInAnotherOrderInEachPass) {
  const Selection selection({Range(0, 40), Range(40, 20)});
  // 30 places of the first 40 records: 4 epochs are 3 passes.
  std::vector<std::int64_t> all;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    const std::vector<std::int64_t> records = Records(selection, epoch);
    all.insert(all.end(), records.begin(), records.begin() + 30);
  }
  std::vector<std::vector<std::int64_t>> passes;
  for (std::ptrdiff_t pass = 0; pass < 3; ++pass) {
    passes.emplace_back(all.begin() + pass * 40, all.begin() + (pass + 1) * 40);
    std::vector<std::int64_t> sorted = passes.back();
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted.front(), 0);
    EXPECT_EQ(sorted.back(), 39);
    EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  }
  EXPECT_NE(passes[0], passes[1]);
  EXPECT_NE(passes[1], passes[2]);
}

TEST(SelectionTest, SharesPlacesOutByLargestRemainders) {
  const Selection selection(
      {Range(0, 10, 0.6), Range(0, 10, 0.25), Range(0, 10, 0.15)}, 11);
  // 6.6, 2.75 and 1.65 places.
  EXPECT_EQ(selection.places_of(0), 6);
  EXPECT_EQ(selection.places_of(1), 3);
  EXPECT_EQ(selection.places_of(2), 2);
}

TEST(SelectionTest, GivesEachRecordWhatItsWeightSays) {
  std::vector<double> weights;
  for (int i = 0; i < 500; ++i) {
    weights.push_back(i % 7 == 0 ? 0 : i % 13 + 0.3 * (i % 3));
  }
  const double sum = std::reduce(weights.begin(), weights.end());
  const Selection selection({Weighted(weights)}, 800);
  EXPECT_EQ(selection.places(), 800);
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    std::map<std::int64_t, int> counts;
    for (const std::int64_t record : Records(selection, epoch)) {
      ++counts[record];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double expected = weights[i] / sum * 800;
      const int count = counts[static_cast<std::int64_t>(i)];
      ASSERT_GE(count, std::floor(expected - 1e-6));
      ASSERT_LE(count, std::ceil(expected + 1e-6));
    }
  }
  // Over many epochs what is expected is what comes: within four standard
  // deviations of a fraction that comes or not.
  const std::map<std::int64_t, int> counts = Counts(selection, 1000);
  for (std::size_t i = 0; i < weights.size(); i += 50) {
    const auto found = counts.find(static_cast<std::int64_t>(i));
    const double count = found == counts.end() ? 0 : found->second;
    EXPECT_NEAR(count, weights[i] / sum * 800 * 1000, 4 * std::sqrt(250.0));
  }
}

TEST(SelectionTest, HasOneOrderForASeedAndAnEpoch) {
  const Selection selection({Range(0, 40), Range(40, 20)});
  EXPECT_EQ(Records(selection, 2), Records(selection, 2));
  EXPECT_NE(Records(selection, 2), Records(selection, 6));  // whole passes on
  EXPECT_NE(selection.RecordAt(1, 0, 0) * 40 + selection.RecordAt(1, 0, 1),
            selection.RecordAt(2, 0, 0) * 40 + selection.RecordAt(2, 0, 1));
}

TEST(SelectionTest, HasAnIdentityOfAllThatDecides) {
  const std::vector<Selection> selections = {
      Selection({Range(0, 10)}),
      Selection({Range(1, 10)}),
      Selection({Range(0, 10)}, 11),
      Selection({Range(0, 5), Range(5, 5)}),
      Selection({Range(0, 5, 2), Range(5, 5)}),
      Selection({{.name = "ids", .ids = {1, 2, 3}}}),
      Selection({{.name = "ids", .ids = {1, 3, 2}}}),
      Selection({Weighted({1, 1, 1})}),
      Selection({Weighted({1, 2, 1})})};
  for (const Selection& a : selections) {
    EXPECT_EQ(a.identity().size(), 16U);
    for (const Selection& b : selections) {
      EXPECT_EQ(a.identity() == b.identity(), &a == &b);
    }
  }
  // A name decides nothing, and weights that come to the same neither.
  EXPECT_EQ(
      Selection({{.name = "other", .range = {0, 10}, .weight = 3}}).identity(),
      selections[0].identity());
}

// Why a selection of these groups is refused.
std::string Refusal(const std::vector<RecordGroup>& groups,
                    std::int64_t places = 0) {
  return MessageOf<UsageError>([&] { Selection(groups, places); });
}

TEST(SelectionTest, RefusesWhatSelectsNothing) {
  EXPECT_THAT(Refusal({}), HasSubstr("nothing is selected"));
  EXPECT_THAT(Refusal({Range(0, 3, 0)}), HasSubstr("nothing is selected"));
  EXPECT_THAT(Refusal({Range(0, 0)}), HasSubstr("range has none"));
  EXPECT_THAT(Refusal({Range(0, 100, 1), Range(0, 1, 0.001)}),
              HasSubstr("range gets no place in an epoch of 101 records"));
}

TEST(SelectionTest, RefusesRangesThatAreNotOfRecords) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const RecordGroup& group :
       {Range(-3, 5), Range(5, -3), Range(kMost, 5), Range(5, kMost)}) {
    EXPECT_EQ(Refusal({group}, 5), "the range of range is not of records");
  }
}

TEST(SelectionTest, NamesGroupsWithoutANameByTheirNumber) {
  EXPECT_THAT(Refusal({Range(0, 5), {.range = {5, 5}, .weight = -1}}),
              HasSubstr("a weight of group 1 cannot be used"));
}

TEST(SelectionTest, RefusesWhatIsNoWeight) {
  constexpr const char* kOfWeighted = "a weight of weighted cannot be used";
  for (const double weight :
       {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(Refusal({Range(0, 3, weight)}),
                HasSubstr("a weight of range cannot be used"));
    EXPECT_THAT(Refusal({Weighted({1, weight})}), HasSubstr(kOfWeighted));
  }
  EXPECT_THAT(Refusal({Weighted({1e308, 1e308})}), HasSubstr(kOfWeighted));
  EXPECT_THAT(Refusal({Weighted({0, 0})}), HasSubstr("not 0 for all"));
  EXPECT_THAT(Refusal({{.name = "list", .ids = {7, 3, 99}, .weights = {1, 2}}}),
              HasSubstr("list has 2 weights for 3 records"));
}

TEST(SelectionTest, RefusesAnEpochThatNoOrderCanHold) {
  EXPECT_THAT(Refusal({Range(0, 3)}, std::int64_t{1} << 32),
              HasSubstr("an epoch of 4294967296 records"));
  EXPECT_THAT(Refusal({Range(0, 3)}, -1), HasSubstr("an epoch of -1 records"));
}

TEST(SelectionTest, IsRefusedByAnOrderThatCannotTakeIt) {
  const auto refusal = [](std::vector<RecordGroup> groups, InputOptions options,
                          std::int64_t records = 100) {
    options.selection = std::make_shared<const Selection>(std::move(groups));
    return MessageOf<UsageError>([&] { SampleOrder({records}, options); });
  };
  EXPECT_THAT(refusal({Range(0, 10)}, {.shuffle = Shuffle::kWindow}),
              HasSubstr("shuffle is window: a selection needs global, or "
                        "none"));
  EXPECT_THAT(refusal({Range(0, 10)}, {.shuffle = Shuffle::kTorch}),
              HasSubstr("shuffle is torch"));
  EXPECT_THAT(
      refusal({Range(0, 10), Range(10, 20)}, {.shuffle = Shuffle::kNone}),
      HasSubstr("shuffle is none"));
  EXPECT_THAT(refusal({Range(0, 10)}, {.shuffle = Shuffle::kGlobal}, 5),
              HasSubstr("record 9 is selected, but the data set has only 5 "
                        "records"));
  EXPECT_THAT(refusal({Range(0, 10)}, {.max_records = 7}),
              HasSubstr("max_records and a selection exclude each other"));
}

TEST(SpreadSelectionTest, HasOneRecordOfEachPart) {
  for (const auto& [records, places] :
       {std::pair{10, 10}, {10, 3}, {10, 1}, {1000, 99}}) {
    const std::vector<std::int64_t> sample =
        Records(SpreadSelection(records, places), 0);
    ASSERT_THAT(sample, SizeIs(places));
    for (std::int64_t i = 0; i < places; ++i) {
      const std::int64_t record = sample[static_cast<std::size_t>(i)];
      EXPECT_GE(record, i * records / places);
      EXPECT_LT(record, (i + 1) * records / places);
    }
    EXPECT_EQ(Records(SpreadSelection(records, places), 1), sample);
  }
}

// Every tenth record of classes in turn would be of one class.
TEST(SpreadSelectionTest, HasAllClassesOfRecordsInTurn) {
  std::map<std::int64_t, int> classes;
  for (const std::int64_t record : Records(SpreadSelection(1000, 100), 0)) {
    ++classes[record % 10];
  }
  EXPECT_THAT(classes, SizeIs(10));
}

TEST(SpreadSelectionTest, KeepsTheOrderOfTheRecords) {
  const SampleOrder order =
      Ordered(std::make_shared<const Selection>(SpreadSelection(50, 5)),
              Shuffle::kNone);
  std::vector<std::int64_t> sample;
  for (std::int64_t position = 0; position < order.places(); ++position) {
    sample.push_back(order.Epoch(0).RecordAt(position));
  }
  EXPECT_EQ(sample, Records(SpreadSelection(50, 5), 0));
}

class SelectionFilesTest : public ::testing::Test {
 protected:
  const std::string& Write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "list.txt";
};

// Why a file of this text is refused by a reader.
template <typename Read>
std::string FileRefusal(Read read) {
  return MessageOf<DataError>([&] { (void)read(); });
}

TEST_F(SelectionFilesTest, ReadsLines) {
  EXPECT_THAT(ReadLines(Write(" a b\t\r\nc\n\n\n")), ElementsAre("a b", "c"));
  EXPECT_THAT(ReadLines(Write("")), ElementsAre());
  EXPECT_THAT(FileRefusal([&] { return ReadLines(Write("a\n \nb")); }),
              HasSubstr("list.txt: line 2 is empty"));
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadLines(folder_ / "none"); }),
              HasSubstr("none: cannot"));
}

TEST_F(SelectionFilesTest, ReadsRecordsInTheirOrder) {
  EXPECT_THAT(ReadRecordList(Write("7\n2-4\n 9 \n0 - 0\n"), 10),
              ElementsAre(7, 2, 3, 4, 9, 0));
  const std::pair<const char*, const char*> rows[] = {
      {"1\nx", "line 2: \"x\" is neither a record's number nor a range"},
      {"1-", "neither"},
      {"-1", "neither"},
      {"4-3", "neither"},
      {"1 2", "neither"},
      {"99999999999999999999", "neither"},
      {"10", "line 1: the data set has only 10 records, counted from 0"},
      {"9-9223372036854775807", "only 10 records"},
      {"0-9223372036854775806", "only 10 records"},
      {"3\n2-4", "line 2: record 3 is listed for the second time"}};
  for (const auto& [text, why] : rows) {
    EXPECT_THAT(FileRefusal([&] { return ReadRecordList(Write(text), 10); }),
                HasSubstr(why))
        << text;
  }
}

TEST_F(SelectionFilesTest, ReadsAWeightForEachRecord) {
  EXPECT_THAT(ReadSampleWeights(Write("1\n0\n2.5e-1\n"), 3),
              ElementsAre(1, 0, 0.25));
  EXPECT_THAT(FileRefusal([&] { return ReadSampleWeights(Write("1\n2"), 3); }),
              HasSubstr("has 2 lines, but the data set has 3 records"));
  for (const char* wrong : {"-1", "x", "inf", "nan", "1 2"}) {
    EXPECT_THAT(FileRefusal([&] { return ReadSampleWeights(Write(wrong), 1); }),
                HasSubstr("is not a weight"))
        << wrong;
  }
}

TEST_F(SelectionFilesTest, ReadsAWeightForEachClass) {
  EXPECT_THAT(ReadClassWeights(Write("daisy 2\ngolden retriever\t0.5\n3 1")),
              ElementsAre(Pair("3", 1), Pair("daisy", 2),
                          Pair("golden retriever", 0.5)));
  const std::pair<const char*, const char*> rows[] = {
      {"daisy", "line 1: \"daisy\" is not a class and its weight"},
      {"daisy -2", "is not a class"},
      {"a 1\na 2", "line 2: class a already has a weight"}};
  for (const auto& [text, why] : rows) {
    EXPECT_THAT(FileRefusal([&] { return ReadClassWeights(Write(text)); }),
                HasSubstr(why));
  }
}

}  // namespace infeed::selection_test
