#include "pipeline/order/label_class.h"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "tests/support/flower_records.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

// Shards of labels in folders of a test's own.
class LabelClassTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::vector<int>& labels) {
    std::filesystem::create_directories(
        std::filesystem::path(folder_ / name).parent_path());
    RecordFile file;
    for (const int label : labels) {
      file.Add(PayloadOf({.image = "image", .label = label}));
    }
    return file.Write(folder_ / name);
  }

  const TemporaryFolder folder_;
};

TEST_F(LabelClassTest, FindsTheOffsetInTheLabels) {
  const auto offset = [&](const std::vector<int>& labels) {
    return FindLabelOffset(RecordIndex({Write("train-0", labels)}));
  };
  EXPECT_EQ(offset({2, 1, 3}), 1);
  EXPECT_EQ(offset({2, 1, 0, 3, 4}), 0);
  EXPECT_EQ(offset({2, -1, 3, 3}), 1);
  EXPECT_EQ(offset({}), 1);
}

TEST_F(LabelClassTest, TakesTheDescriptionsWord) {
  const std::string shard = Write("set/train/train-00000-of-00001", {0, 1, 2});
  WriteDatasetInfo(folder_ / "set", {.classes = {"cat", "dog"}});
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard})), 1);
  WriteDatasetInfo(folder_ / "set",
                   {.classes = {"cat", "dog", "ox"}, .first_label = 0});
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard})), 0);
  WriteDatasetInfo(folder_ / "set", {});  // Nothing is known.
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard})), 0);
  EXPECT_EQ(
      *ResolvedOptions({.label_offset = 1}, RecordIndex({shard})).label_offset,
      1);
}

TEST_F(LabelClassTest, RefusesSetsThatNumberDifferently) {
  const std::vector<std::string> shards = {Write("a/train-0", {1}),
                                           Write("b/train-0", {0})};
  WriteDatasetInfo(folder_ / "a", {.classes = {"cat"}, .first_label = 1});
  WriteDatasetInfo(folder_ / "b", {.classes = {"cat"}, .first_label = 0});
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)FindLabelOffset(RecordIndex(shards)); }),
              HasSubstr("labels are from 0, by another from 1"));
}

TEST_F(LabelClassTest, WritesNothingBesideImagesOrWhereTheIndexDoesNot) {
  EXPECT_EQ(FindLabelOffset(RecordIndex::OfImages(
                {{.path = folder_ / "gone.jpg", .label = 0}})),
            0);
  const std::string shard = Write("train-00000-of-00001", {1});
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard}, {.use_cache = false})), 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".infeed"));
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard})), 1);
  EXPECT_TRUE(
      std::filesystem::exists(folder_ / ".infeed/train-00000-of-00001.labels"));
}

TEST(ClassOfTest, CountsFromTheOffset) {
  const InputOptions from_0 = {.label_offset = 0, .num_label_classes = 3};
  const InputOptions from_1 = {.label_offset = 1, .num_label_classes = 3};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ClassOf(i, from_0), i);
    EXPECT_EQ(ClassOf(i + 1, from_1), i);
  }
}

TEST(ClassOfTest, SaysWhyThereIsNoClass) {
  const auto why = [](std::int64_t label, const InputOptions& options) {
    return MessageOf<DataError>([&] { (void)ClassOf(label, options); });
  };
  const InputOptions three = {.label_offset = 1, .num_label_classes = 3};
  EXPECT_EQ(why(-1, three),
            "there is no label (image/class/label is missing or -1)");
  EXPECT_EQ(why(0, three),
            "image/class/label 0 is below 1, the label of the first class "
            "(label_offset)");
  EXPECT_EQ(why(4, three),
            "image/class/label 4 is beyond the last of 3 classes, whose label "
            "is 3");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(why(kMost, three), HasSubstr("beyond the last"));
  EXPECT_THAT(why(kMost, {.label_offset = 0}), HasSubstr("fit 32 bits"));
  EXPECT_THAT(why(std::numeric_limits<std::int64_t>::min(), three),
              HasSubstr("is below 1"));
}

TEST(ClassOfTest, IsNoneWhereLabelsAreNotRequired) {
  const InputOptions options = {
      .label_offset = 1, .num_label_classes = 3, .require_labels = false};
  for (const int label : {-1, 0, 4}) {
    EXPECT_EQ(ClassOf(label, options), -1) << label;
  }
  EXPECT_EQ(ClassOf(3, options), 2);
}

}  // namespace
}  // namespace infeed
