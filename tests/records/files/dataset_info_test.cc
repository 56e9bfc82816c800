#include "records/files/dataset_info.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

DatasetInfo Flowers() {
  return {.seed = 18446744073709551615U,
          .classes = {"daisy", "ros\xC3\xA9"},
          .splits = {{.name = "train",
                      .records = 3,
                      .shards = {{.name = "train-00000-of-00002",
                                  .records = 2,
                                  .bytes = 40,
                                  .crc32c = "e3069283"},
                                 {.name = "train-00001-of-00002",
                                  .records = 1,
                                  .bytes = 20,
                                  .crc32c = "00000000"}}},
                     {.name = "validation", .records = 0, .shards = {}}}};
}

TEST(DatasetInfoTest, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  WriteDatasetInfo(folder.path(), Flowers());
  const std::optional<DatasetInfo> info = ReadDatasetInfo(folder.path());
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->seed, Flowers().seed);
  EXPECT_EQ(info->classes, Flowers().classes);
  ASSERT_EQ(info->splits.size(), 2U);
  EXPECT_EQ(info->splits[0].name, "train");
  EXPECT_EQ(info->splits[0].records, 3);
  ASSERT_EQ(info->splits[0].shards.size(), 2U);
  EXPECT_EQ(info->splits[0].shards[0].name, "train-00000-of-00002");
  EXPECT_EQ(info->splits[0].shards[0].records, 2);
  EXPECT_EQ(info->splits[0].shards[1].bytes, 20);
  EXPECT_EQ(info->splits[0].shards[0].crc32c, "e3069283");
}

TEST(DatasetInfoTest, ClassesAreTextInOneForm) {
  const TemporaryFolder folder;
  DatasetInfo info = Flowers();
  info.classes = {"rose\xCC\x81"};
  WriteDatasetInfo(folder.path(), info);
  EXPECT_THAT(ReadDatasetInfo(folder.path())->classes,
              ElementsAre("ros\xC3\xA9"));
}

TEST(DatasetInfoTest, SaysWhichLabelIsFirst) {
  const TemporaryFolder folder;
  for (const int label : {0, 1}) {
    DatasetInfo info = Flowers();
    info.first_label = label;
    WriteDatasetInfo(folder.path(), info);
    EXPECT_EQ(ReadDatasetInfo(folder.path())->first_label, label);
  }
}

TEST(DatasetInfoTest, CountsFromOneWhereItHasClassesAlone) {
  const TemporaryFolder folder;
  WriteDatasetInfo(folder.path(), Flowers());  // As older programs wrote it.
  EXPECT_EQ(ReadDatasetInfo(folder.path())->first_label, 1);
  WriteDatasetInfo(folder.path(), {});
  EXPECT_EQ(ReadDatasetInfo(folder.path())->first_label, std::nullopt);
}

TEST(DatasetInfoTest, IsFoundAboveAFolderOfASplit) {
  const TemporaryFolder folder;
  WriteDatasetInfo(folder.path(), Flowers());
  EXPECT_TRUE(FindDatasetInfo(folder / "train-00000-of-00001"));
  EXPECT_TRUE(FindDatasetInfo(folder / "validation/train-00000-of-00001"));
  EXPECT_FALSE(FindDatasetInfo(folder / "others/train-00000-of-00001"));
}

TEST(DatasetInfoTest, IsNotThereWithoutAFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ReadDatasetInfo(folder.path()).has_value());
}

TEST(DatasetInfoTest, TakesNamesThatAreNotUtf8) {
  const TemporaryFolder folder;
  WriteDatasetInfo(folder.path(),
                   {.seed = 0, .classes = {"a\xFF"}, .splits = {}});
  EXPECT_THAT(ReadDatasetInfo(folder.path())->classes,
              ElementsAre("a\xEF\xBF\xBD"));
}

// Reads a dataset.json of that text.
void Read(std::string_view text) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "dataset.json", text);
  (void)ReadDatasetInfo(folder.path());
}

TEST(DatasetInfoTest, RefusesWhatIsNotADescription) {
  for (const char* text :
       {"", "{", "[]", "{}", "null", R"({"format": 1, "version": 1})"}) {
    EXPECT_THAT([&] { Read(text); },
                ThrowsMessage<DataError>(
                    HasSubstr("dataset.json: not a data set's description")))
        << text;
  }
}

TEST(DatasetInfoTest, RefusesDeepNesting) {
  EXPECT_THAT([] { Read(std::string(200'000, '[')); },
              ThrowsMessage<DataError>(HasSubstr("nested more than 32")));
}

std::string WithClasses(const std::string& classes) {
  return R"({"format": "infeed dataset", "version": 1, "seed": 0, )"
         R"("classes": [)" +
         classes + R"(], "splits": []})";
}

TEST(DatasetInfoTest, RefusesNamesThatAreNotOneLine) {
  EXPECT_THAT([] { Read(WithClasses(R"("cat", "a\nb")")); },
              ThrowsMessage<DataError>(HasSubstr(
                  "dataset.json: the name of class \"a\\nb\" has a newline")));
}

TEST(DatasetInfoTest, LimitsTheClasses) {
  std::string classes = R"("a")";
  for (int i = 1; i < 100'000; ++i) {
    classes += R"(,"a")";
  }
  EXPECT_NO_THROW(Read(WithClasses(classes)));
  EXPECT_THAT([&] { Read(WithClasses(classes + R"(,"a")")); },
              ThrowsMessage<DataError>(
                  HasSubstr("dataset.json: 100001 classes; at most 100000")));
}

// Takes minutes where each key is searched among those before it.
TEST(DatasetInfoTest, ReadsHalfAMillionKeysAtOnce) {
  std::string text = "{";
  for (int i = 0; i < 500'000; ++i) {
    text += '"' + std::to_string(i) + "\":0,";
  }
  EXPECT_THAT([&] { Read(text + R"("format": 1})"); },
              ThrowsMessage<DataError>(HasSubstr("not a data set's")));
}

TEST(DatasetInfoTest, RefusesAnotherVersion) {
  EXPECT_THAT(
      [] { Read(R"({"format": "infeed dataset", "version": 2})"); },
      ThrowsMessage<DataError>(HasSubstr(
          "expected the format 'infeed dataset', version 1, found \"infeed "
          "dataset\", version 2")));
}

TEST(DatasetInfoTest, RefusesANegativeCount) {
  EXPECT_THAT(
      [] {
        Read(R"({"format": "infeed dataset", "version": 1, "seed": 0,
                 "classes": [], "splits": [
                   {"name": "train", "records": -1, "shards": []}]})");
      },
      ThrowsMessage<DataError>(HasSubstr("'records' is negative: -1")));
}

}  // namespace
}  // namespace infeed
