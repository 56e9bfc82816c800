#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/builder.h"
#include "records/files/dataset_info.h"
#include "records/store/index_data.h"
#include "records/store/label_index.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::label_offset_test {

// Files of labels in folders of a test's own.
class LabelOffsetTest : public ::testing::Test {
 protected:
  std::string Records(const std::string& name, const std::vector<int>& labels) {
    RecordFile file;
    for (const int label : labels) {
      file.Add(PayloadOf({.image = "image", .label = label}));
    }
    return file.Write(Place(name));
  }

  std::string Tar(const std::string& name, const std::vector<int>& labels) {
    TarFile tar;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      tar.Add(std::to_string(i) + ".jpg", "image")
          .Add(std::to_string(i) + ".cls", std::to_string(labels[i]));
    }
    WriteFileAtomically(Place(name), tar.text());
    return folder_ / name;
  }

  // With the keys of TensorFlow Datasets.
  std::string Tfds(const std::string& name, std::int64_t label) {
    const std::string image = TestJpeg();
    const std::vector<ExampleFeature> features = {
        {"image", std::vector<std::string_view>{image}},
        {"label", std::vector<std::int64_t>{label}}};
    return RecordFile().Add(BuildExample(features)).Write(Place(name));
  }

  static int Offset(const std::string& shard) {
    return FindLabelOffset(RecordIndex({shard}));
  }
  [[nodiscard]] int OffsetOfSplit(const std::string& split) const {
    return FindLabelOffset(IndexSplit(folder_.path(), split).value());
  }

  std::string Place(const std::string& name) {
    std::filesystem::create_directories(
        std::filesystem::path(folder_ / name).parent_path());
    return folder_ / name;
  }

  const TemporaryFolder folder_;
};

TEST_F(LabelOffsetTest, FollowsFromTheLabels) {
  EXPECT_EQ(Offset(Records("a/x", {2, 1, 3})), 1);
  EXPECT_EQ(Offset(Records("b/x", {2, 1, 0, 3, 4})), 0);
  EXPECT_EQ(Offset(Records("c/x", {2, -1, 3, 3})), 1);
  EXPECT_EQ(Offset(Records("d/x", {})), 1);
}

TEST_F(LabelOffsetTest, FollowsFromTheFormat) {
  EXPECT_EQ(Offset(Tar("val-0.tar", {1, 2, 3})), 0);
  EXPECT_EQ(Offset(Tfds("tfds-validation.tfrecord-00000-of-00001", 3)), 0);
  // Classes that infeed numbers.
  EXPECT_EQ(FindLabelOffset(RecordIndex::OfImages(
                {{.path = folder_ / "gone.jpg", .label = 2}})),
            1);
  WriteFileAtomically(folder_ / "a.zip",
                      ZipBuilder().Add(StoredMember("cat/1.jpg", "C")).bytes());
  EXPECT_EQ(Offset(folder_ / "a.zip"), 1);
}

TEST_F(LabelOffsetTest, IsStatedUnlessLabelsTell) {
  const auto stated = [](const std::string& shard) {
    return StatedLabelOffset(RecordIndex({shard}));
  };
  EXPECT_EQ(stated(Records("a/x", {0, 1})), std::nullopt);
  EXPECT_EQ(stated(Tar("val-0.tar", {1})), 0);
  EXPECT_EQ(stated(Tfds("tfds-validation.tfrecord-00000-of-00001", 3)), 0);
  WriteDatasetInfo(folder_ / "a", {.classes = {"cat", "dog"}});
  EXPECT_EQ(stated(folder_ / "a/x"), 1);
}

// No image key is wanted where images are not read.
TEST_F(LabelOffsetTest, FollowsFromTheFormatWithoutAnImageKey) {
  const auto stated = [](const std::string& shard) {
    return StatedLabelOffset(RecordIndex({shard}),
                             {.image = "", .label = "label"});
  };
  EXPECT_EQ(stated(Tfds("tfds-validation.tfrecord-00000-of-00001", 3)), 0);
  EXPECT_EQ(stated(Records("a/x", {1})), std::nullopt);
}

TEST_F(LabelOffsetTest, IsOneForAllSplits) {
  Records("train-00000-of-00001", {0, 1, 2, 3});
  Records("validation-00000-of-00001", {1, 2, 3});
  Records("test-00000-of-00001", {3});
  for (const char* split : {"train", "validation", "test"}) {
    EXPECT_EQ(OffsetOfSplit(split), 0) << split;
  }
}

TEST_F(LabelOffsetTest, IsOneForAllFilesThatAreNamedTogether) {
  const std::string train = Records("a/train.tfrecord", {1, 2, 3});
  const std::string val = Records("b/val.tfrecord", {0, 1});
  EXPECT_EQ(Offset(train), 1);
  for (const char* split : {"train", "validation"}) {
    EXPECT_EQ(FindLabelOffset(IndexSplit(train + "," + val, split).value()), 0);
  }
}

TEST_F(LabelOffsetTest, PassesOverDamagedFilesOfOtherSplits) {
  Records("train-00000-of-00002", {0, 1});
  RecordFile().Add("?").Truncate(3).Write(Place("train-00001-of-00002"));
  Records("validation-00000-of-00001", {1});
  EXPECT_EQ(OffsetOfSplit("validation"), 0);
}

TEST_F(LabelOffsetTest, FollowsFromAListOfClasses) {
  const std::string shard = Records("train-00000-of-00001", {1, 2});
  WriteFileAtomically(folder_ / "labels.txt", "cat\ndog\nemu\n");
  EXPECT_EQ(Offset(shard), 0);
  WriteFileAtomically(folder_ / "labels.txt", "cat\ndog\n");
  EXPECT_EQ(Offset(shard), 1);
}

TEST_F(LabelOffsetTest, AListOfClassesNamesEachLabelOrIsAnError) {
  const auto names = [&](const std::string& labels) {
    WriteFileAtomically(folder_ / "labels.txt", labels);
    return FindNumberedClasses(IndexData(folder_.path())).names;
  };
  const std::string shard = Records("train-00000-of-00001", {1, 2, 3});
  EXPECT_THAT(names("cat\ndog\nemu\n"), ElementsAre("cat", "dog", "emu"));
  EXPECT_THAT(MessageOf<DataError>([&] { (void)names("cat\ndog\n"); }),
              AllOf(HasSubstr("labels.txt beside " + shard),
                    HasSubstr("names 2 classes, the last one of label 2"),
                    HasSubstr("labels up to 3")));
  // The label 0 may be that of a background without a line.
  Records("train-00000-of-00001", {0, 1, 2, 3});
  EXPECT_THAT(MessageOf<DataError>([&] { (void)names("cat\ndog\nemu\n"); }),
              HasSubstr("the last one of label 2"));
  EXPECT_THAT(names("background\ncat\ndog\nemu\n"), SizeIs(4));
}

TEST_F(LabelOffsetTest, IsTheDescriptions) {
  const std::string shard =
      Records("set/train/train-00000-of-00001", {0, 1, 2});
  WriteDatasetInfo(folder_ / "set", {.classes = {"cat", "dog"}});
  EXPECT_EQ(Offset(shard), 1);
  WriteDatasetInfo(folder_ / "set",
                   {.classes = {"cat", "dog", "ox"}, .first_label = 0});
  EXPECT_EQ(Offset(shard), 0);
  WriteDatasetInfo(folder_ / "set", {});  // Nothing is known.
  EXPECT_EQ(Offset(shard), 0);
}

TEST_F(LabelOffsetTest, RefusesDataThatCountsDifferently) {
  const std::vector<std::string> shards = {Records("a/train-0", {1}),
                                           Records("b/train-0", {0})};
  WriteDatasetInfo(folder_ / "a", {.classes = {"cat"}, .first_label = 1});
  WriteDatasetInfo(folder_ / "b", {.classes = {"cat"}, .first_label = 0});
  EXPECT_THAT(
      MessageOf<UsageError>(
          [&] { (void)FindLabelOffset(RecordIndex(shards)); }),
      AllOf(HasSubstr("labels count from 1 in the dataset.json of " +
                      (folder_ / "a")),
            HasSubstr("from 0 in the dataset.json of " + (folder_ / "b"))));
  EXPECT_THAT(
      MessageOf<UsageError>([&] {
        (void)FindLabelOffset(RecordIndex({shards[0], Tar("x.tar", {1})}));
      }),
      HasSubstr("x.tar"));
}

TEST_F(LabelOffsetTest, WritesNothingBesideImagesOrWhereTheIndexDoesNot) {
  const std::string shard = Records("train-00000-of-00001", {1});
  EXPECT_EQ(FindLabelOffset(RecordIndex({shard}, {.use_cache = false})), 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".infeed"));
  EXPECT_EQ(Offset(shard), 1);
  EXPECT_TRUE(
      std::filesystem::exists(folder_ / ".infeed/train-00000-of-00001.labels"));
}

}  // namespace infeed::label_offset_test
