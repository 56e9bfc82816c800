#include "records/store/label_index.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::string Labelled(std::int64_t label) {
  return BuildImagenetExample({.label = label, .encoded = "image"});
}

// Two shards, with labels 3, 1 and 2.
class LabelIndexTest : public ::testing::Test {
 protected:
  LabelIndexTest() {
    RecordFile().Add(Labelled(3)).Add(Labelled(1)).Write(first_);
    RecordFile().Add(Labelled(2)).Write(second_);
  }

  [[nodiscard]] std::vector<std::int64_t> Labels(bool use_cache = true) const {
    const RecordIndex index({first_, second_}, {.use_cache = false});
    return RecordLabels(index, {.use_cache = use_cache});
  }
  // Writes other labels of the same size, without another modification time.
  void ChangeUnseen() {
    const fs::file_time_type time = fs::last_write_time(first_);
    RecordFile().Add(Labelled(8)).Add(Labelled(9)).Write(first_);
    fs::last_write_time(first_, time);
  }

  const TemporaryFolder folder_;
  const std::string first_ = folder_ / "train-00000-of-00002";
  const std::string second_ = folder_ / "train-00001-of-00002";
  const std::string label_file_ =
      folder_ / ".infeed/train-00000-of-00002.labels";
};

TEST_F(LabelIndexTest, ReadsTheLabelOfEveryRecordOnce) {
  EXPECT_THAT(Labels(false), ElementsAre(3, 1, 2));
  EXPECT_FALSE(fs::exists(label_file_));
  EXPECT_THAT(Labels(), ElementsAre(3, 1, 2));
  EXPECT_TRUE(fs::exists(label_file_));
  ChangeUnseen();
  EXPECT_THAT(Labels(), ElementsAre(3, 1, 2));
  EXPECT_THAT(Labels(false), ElementsAre(8, 9, 2));
}

TEST_F(LabelIndexTest, KeepsTheLabelsOfEachKeyApart) {
  for (const std::string& shard : {first_, second_}) {
    RecordFile()
        .Add(Labelled(5) + ExtraInt64s("label", {0}))
        .Add(Labelled(6) + ExtraInt64s("label", {1}))
        .Write(shard);
  }
  const RecordIndex index({first_, second_}, {.use_cache = false});
  for (int round = 0; round < 2; ++round) {  // the second one by the files
    EXPECT_THAT(RecordLabels(index), ElementsAre(5, 6, 5, 6));
    EXPECT_THAT(RecordLabels(index, {.label_key = "label"}),
                ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(CountLabels(index, {.label_key = "other"}),
                ElementsAre(Pair(kNoLabel, 4)));
  }
}

TEST_F(LabelIndexTest, ReadsAShardAgainThatHasChanged) {
  (void)Labels();
  ChangeUnseen();
  fs::last_write_time(first_,
                      fs::last_write_time(first_) + std::chrono::seconds(1));
  EXPECT_THAT(Labels(), ElementsAre(8, 9, 2));
}

TEST_F(LabelIndexTest, HasNoLabelForWhatHasNoneOrIsDamaged) {
  const std::string good = Labelled(7);
  RecordFile()
      .Add("no example")
      .Add(good)
      .FlipByte(16 + 10 + 12 + 4)  // in the second one's payload
      .Add("")
      .Add(good)
      .Write(first_);
  EXPECT_THAT(Labels(), ElementsAre(kNoLabel, kNoLabel, kNoLabel, 7, 2));
}

TEST_F(LabelIndexTest, ReadsMoreRecordsThanItTakesAtOnce) {
  RecordFile many;
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 700; ++i) {
    many.Add(Labelled(i));
    expected.push_back(i);
  }
  many.Write(first_);
  expected.push_back(2);
  EXPECT_EQ(Labels(), expected);
}

TEST_F(LabelIndexTest, CountsLabels) {
  RecordFile()
      .Add(Labelled(3))
      .Add(Labelled(2))
      .Add("no example")
      .Write(first_);
  const RecordIndex index({first_, second_});
  EXPECT_THAT(CountLabels(index),
              ElementsAre(Pair(kNoLabel, 1), Pair(2, 2), Pair(3, 1)));
}

TEST_F(LabelIndexTest, CountsTheLabelsOfImageFilesWithoutReadingThem) {
  const RecordIndex images = RecordIndex::OfImages(
      {{.path = "gone.jpg", .label = 0}, {.path = "b.jpg", .label = 4}});
  EXPECT_THAT(CountLabels(images), ElementsAre(Pair(0, 1), Pair(4, 1)));
}

TEST_F(LabelIndexTest, SaysWhichShardCannotBeRead) {
  const RecordIndex index({first_, second_}, {.use_cache = false});
  fs::remove(second_);
  EXPECT_THAT([&] { (void)RecordLabels(index); },
              ::testing::ThrowsMessage<IoError>(
                  ::testing::HasSubstr("train-00001-of-00002: cannot open")));
}

}  // namespace
}  // namespace infeed
