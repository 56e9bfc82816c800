#include "records/files/dataset_info.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

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
  WriteDatasetInfo(folder.path(), {.classes = {"rose\xCC\x81", "a\xFF"}});
  EXPECT_THAT(ReadDatasetInfo(folder.path())->classes,
              ElementsAre("ros\xC3\xA9", "a\xEF\xBF\xBD"));
}

TEST(DatasetInfoTest, HasItsFirstLabelOrOneForClassesAlone) {
  const TemporaryFolder folder;
  const auto read_back = [&](const DatasetInfo& info) {
    WriteDatasetInfo(folder.path(), info);
    return ReadDatasetInfo(folder.path())->first_label;
  };
  DatasetInfo info = Flowers();
  EXPECT_EQ(read_back(info), 1);
  for (const int label : {0, 1}) {
    info.first_label = label;
    EXPECT_EQ(read_back(info), label);
  }
  EXPECT_EQ(read_back({}), std::nullopt);
}

TEST(DatasetInfoTest, IsFoundAboveAFolderOfASplit) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ReadDatasetInfo(folder.path()));
  WriteDatasetInfo(folder.path(), Flowers());
  EXPECT_TRUE(FindDatasetInfo(folder / "train-00000-of-00001"));
  EXPECT_TRUE(FindDatasetInfo(folder / "validation/train-00000-of-00001"));
  EXPECT_FALSE(FindDatasetInfo(folder / "others/train-00000-of-00001"));
}

// Reads a dataset.json of that text.
void Read(std::string_view text) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "dataset.json", text);
  (void)ReadDatasetInfo(folder.path());
}

std::string WithClasses(const std::string& classes) {
  return R"({"format": "infeed dataset", "version": 1, "seed": 0, )"
         R"("classes": [)" +
         classes + R"(], "splits": []})";
}

TEST(DatasetInfoTest, RefusesWhatIsNoDescription) {
  for (const auto& [text, reason] :
       {std::pair(std::string(), "not a data set's description"),
        {"{", "not a data set's description"},
        {"[]", "not a data set's description"},
        {"{}", "not a data set's description"},
        {"null", "not a data set's description"},
        {R"({"format": 1, "version": 1})", "not a data set's description"},
        {std::string(200'000, '['), "nested more than 32"},
        {WithClasses(R"("cat", "a\nb")"),
         "the name of class \"a\\nb\" has a newline"},
        {R"({"format": "infeed dataset", "version": 2})",
         "expected the format 'infeed dataset', version 1, found \"infeed "
         "dataset\", version 2"},
        {R"({"format": "infeed dataset", "version": 1, "seed": 0,
             "classes": [], "splits": [
               {"name": "train", "records": -1, "shards": []}]})",
         "'records' is negative: -1"}}) {
    EXPECT_THAT(([&, &text = text] { Read(text); }),
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr("dataset.json: "), HasSubstr(reason))))
        << reason;
  }
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

}  // namespace
}  // namespace infeed
