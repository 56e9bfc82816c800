#include "trainer/params/label_facts.h"

#include <string>

#include "base/error.h"
#include "tests/support/extra_feature.h"
#include "tests/support/flower_records.h"
#include "tests/support/image_folder.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/params/params.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::label_facts_test {

RunParams Resolve(const LabelFacts& facts, const std::string& given = "") {
  RunParams run = ReadParams({.overrides = {given}});
  ResolveLabels(facts, run);
  return run;
}

// "label_offset/num_label_classes".
std::string Choice(const LabelFacts& facts, const std::string& given = "") {
  const TrainParams params = Resolve(facts, given).values;
  return std::to_string(LabelOffsetOf(params)) + "/" +
         std::to_string(params.input.num_label_classes);
}

// An equal number of records of each label from first to last.
LabelCounts Found(std::int64_t first, std::int64_t last) {
  LabelCounts found;
  for (std::int64_t label = first; label <= last; ++label) {
    found[label] = 10;
  }
  return found;
}

TEST(LabelFactsTest, OffsetIsZeroWhereALabelZeroOccurs) {
  EXPECT_EQ(Choice({.found = Found(0, 9)}), "0/10");
  EXPECT_EQ(Choice({.found = Found(1, 10)}), "1/10");
  EXPECT_EQ(Choice({.found = Found(-1, 4)}), "0/5");
  EXPECT_EQ(Choice({.found = {{kNoLabel, 3}, {2, 5}}}), "1/2");
  EXPECT_EQ(Resolve({.found = Found(0, 9)}).origins.at("label_offset"),
            "the data");
  // labels.txt does not say which is first.
  EXPECT_EQ(Choice({.classes = 10, .found = Found(0, 9)}), "0/10");
  EXPECT_EQ(Choice({.classes = 10, .found = Found(1, 10)}), "1/10");
}

TEST(LabelFactsTest, TheDescriptionAndWhatIsGivenGoBeforeTheRecords) {
  EXPECT_EQ(Choice({.classes = 10, .first = 1}), "1/10");
  EXPECT_EQ(Choice({.classes = 10, .first = 0}), "0/10");
  EXPECT_EQ(Choice({.classes = 10, .first = 1, .found = Found(0, 3)}), "1/10");
  EXPECT_EQ(Choice({.found = Found(0, 9)}, "label_offset=1"), "1/9");
  EXPECT_EQ(Choice({.found = Found(1, 10)}, "label_offset=0"), "0/11");
  EXPECT_EQ(Choice({.classes = 10, .first = 1}, "label_offset=0"), "0/11");
  EXPECT_EQ(Choice({.found = Found(0, 9)}, "num_label_classes=5"), "0/5");
}

// Class 0 then has no records.
TEST(LabelFactsTest, TheDataIsDescribedWithTheModelsClasses) {
  RecordFile records;
  for (int label = 1; label <= 10; ++label) {
    records.Add(PayloadOf({.image = "", .label = label}));
  }
  const TemporaryFolder folder;
  records.Write(folder / "train-00000-of-00001");
  const DataSet data(folder.path(), {.label_offset = 0});
  EXPECT_EQ(Choice(data.labels(), "label_offset=0"), "0/11");
  EXPECT_EQ(data.Describe(), "train 10 images in 1 shard; 11 classes");
  EXPECT_EQ(DataSet(folder.path()).Describe(),
            "train 10 images in 1 shard; 10 classes");
}

TEST(LabelFactsTest, DataThatIsTrainedAndEvaluatedIsDescribedOnce) {
  const TemporaryFolder folder;
  RecordFile()
      .Add(PayloadOf({.image = "", .label = 1}))
      .Write(folder / "train-00000-of-00001");
  const DataSet data(folder.path(), {.eval_split = "train"});
  EXPECT_EQ(data.eval_images(), 1);
  EXPECT_EQ(data.Describe(), "train 1 image in 1 shard; 1 class");
}

TEST(LabelFactsTest, ANoteOnBothSplitsIsThereOnce) {
  ImageFolder raw;
  raw.File("train/cat/1.jpg", "1").File("val/cat/2.jpg", "2");
  EXPECT_THAT(DataSet(raw.path()).Notes({}),
              ::testing::ElementsAre(
                  ::testing::HasSubstr("there is only one class, cat")));
}

// Before anything is read or asked for on their labels.
TEST(LabelFactsTest, RecordsWithoutImagesAreNoData) {
  const TemporaryFolder folder;
  RecordFile()
      .Add(ExtraInt64s("ids", {1, 2}))
      .Write(folder / "train-00000-of-00001");
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)DataSet(folder.path()); }),
              ::testing::EndsWith(
                  "the records have no images (image/encoded); they have "
                  "ids"));
}

TEST(LabelFactsTest, TheReferences1001ClassesBeginWithTheBackground) {
  const std::string given = "num_label_classes=1001";
  EXPECT_EQ(Choice({.classes = 1000, .first = 1}, given), "0/1001");
  EXPECT_EQ(Choice({.classes = 1000}, given), "0/1001");
  EXPECT_EQ(Choice({.found = Found(1, 1000)}, given), "0/1001");
  EXPECT_EQ(Choice({.found = Found(0, 1000)}, given), "0/1001");
  EXPECT_EQ(Choice({.found = Found(0, 1000)}), "0/1001");
  const LabelFacts own = {.classes = 1001, .first = 1};
  EXPECT_EQ(Choice(own), "1/1001");
  EXPECT_EQ(Choice(own, given), "1/1001");
  EXPECT_EQ(LabelsText({}, Resolve({}, given).values),
            "0..1000, 1001 classes (label_offset 0); class 0 is the "
            "background");
}

TEST(LabelFactsTest, NeedsTheNumberOfClasses) {
  for (const LabelFacts& facts :
       {LabelFacts{}, LabelFacts{.found = {{kNoLabel, 7}}}}) {
    for (const char* given : {"", "label_offset=0", "label_offset=1"}) {
      EXPECT_THAT(
          MessageOf<UsageError>([&] { (void)Resolve(facts, given); }),
          testing::HasSubstr("num_label_classes: the data does not say"));
    }
  }
}

TEST(LabelFactsTest, LabelsOfTheDataHaveALimit) {
  EXPECT_EQ(Choice({.found = {{1, 1}, {100'000, 1}}}), "1/100000");
  for (const std::int64_t last :
       {std::int64_t{100'001}, std::int64_t{1} << 40}) {
    EXPECT_EQ(MessageOf<DataError>([&] {
                (void)Resolve({.found = {{1, 1}, {last, 1}}});
              }),
              "the records have labels up to " + std::to_string(last) +
                  "; at most 100000 classes are possible: give "
                  "num_label_classes; records with higher labels then count as "
                  "bad");
    EXPECT_EQ(Choice({.found = {{1, 1}, {last, 1}}}, "num_label_classes=9"),
              "1/9");
  }
}

TEST(LabelFactsTest, CountsRecordsOfNoClass) {
  LabelFacts facts = {.found = Found(0, 9)};
  EXPECT_EQ(LabelsText(facts, Resolve(facts).values),
            "0..9, 10 classes (label_offset 0)");
  facts.found[kNoLabel] = 3;
  facts.found[-2] = 1;
  const TrainParams params = Resolve(facts, "num_label_classes=9").values;
  EXPECT_EQ(LabelsText(facts, params),
            "0..8, 9 classes (label_offset 0); 14 of 104 records are bad, by "
            "their labels: 3 missing, 1 below 0, 10 above 8");
}

}  // namespace infeed::label_facts_test
