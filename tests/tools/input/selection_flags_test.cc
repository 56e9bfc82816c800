#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/order/selection.h"
#include "pipeline/order/selection_files.h"
#include "records/example/imagenet_example.h"
#include "records/files/dataset_info.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tools/cli/flags.h"
#include "tools/input/input_flags.h"

namespace infeed {
namespace {

SelectionChoice Parsed(std::vector<std::string> arguments) {
  CLI::App app("A tool.");
  SelectionChoice flags;
  AddSelectionFlags(app, flags);
  arguments.insert(arguments.begin(), "bin/tool");
  ArgumentVector argv(std::move(arguments));
  EXPECT_TRUE(ParseFlags(app, argv.argc(), argv.argv()));
  return flags;
}

std::string Labelled(std::int64_t label) {
  ImagenetExample example;
  example.label = label;
  return BuildImagenetExample(example);
}

// Eight records: daisies (label 1), red roses (2), and one without a label.
class SelectionFlagsTest : public ::testing::Test {
 protected:
  SelectionFlagsTest() {
    DatasetInfo info;
    info.classes = {"daisy", "red roses"};
    WriteDatasetInfo(folder_.path(), info);
  }

  static std::string WriteShard(const std::string& path,
                                const std::vector<std::int64_t>& labels) {
    RecordFile file;
    for (const std::int64_t label : labels) {
      file.Add(Labelled(label));
    }
    return file.Write(path);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  [[nodiscard]] std::shared_ptr<const Selection> Made(
      const std::vector<std::string>& arguments) const {
    return MakeSelection(Parsed(arguments), "train", index_,
                         std::string(kLabelKey));
  }
  // The message of the error that the arguments end with.
  template <typename Error = UsageError>
  [[nodiscard]] std::string ErrorOf(
      const std::vector<std::string>& arguments) const {
    return MessageOf<Error>([&] { (void)Made(arguments); });
  }
  // The records of an epoch's places.
  [[nodiscard]] std::vector<std::int64_t> Records(
      const std::vector<std::string>& arguments) const {
    const std::shared_ptr<const Selection> selection = Made(arguments);
    std::vector<std::int64_t> records;
    for (std::int64_t place = 0; place < selection->places(); ++place) {
      records.push_back(selection->RecordAt(1, 0, place));
    }
    return records;
  }

  const TemporaryFolder folder_;
  const RecordIndex index_{{WriteShard(folder_ / "train-00000-of-00001",
                                       {1, 1, 2, 1, 1, 2, 1, -1})}};
};

TEST_F(SelectionFlagsTest, SelectEverythingUnlessAsked) {
  EXPECT_EQ(Made({}), nullptr);
}

TEST_F(SelectionFlagsTest, TakeASubset) {
  const std::string list = Write("list.txt", "5\n0-1\n");
  EXPECT_THAT(Records({"--subset", list}), ElementsAre(5, 0, 1));
}

TEST_F(SelectionFlagsTest, TakeClassesByNameOrLabel) {
  EXPECT_THAT(Records({"--classes", "red roses"}), ElementsAre(2, 5));
  EXPECT_THAT(Records({"--classes", "2"}), ElementsAre(2, 5));
  EXPECT_THAT(Records({"--classes", "2,daisy"}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(ErrorOf({"--classes", "tulip"}),
              HasSubstr("there is no class \"tulip\": give a name"));
  EXPECT_THAT(ErrorOf({"--classes", "77"}), HasSubstr("no record is selected"));
}

TEST_F(SelectionFlagsTest, TakeClassesOfASubset) {
  const std::string list = Write("list.txt", "0-2");
  EXPECT_THAT(Records({"--subset", list, "--classes", "daisy"}),
              ElementsAre(0, 1));
}

TEST_F(SelectionFlagsTest, BalanceClasses) {
  // Seven records have a class; of eight places four are the daisies'.
  const std::vector<std::int64_t> records =
      Records({"--class_weights", "balanced", "--epoch_records", "8"});
  ASSERT_EQ(records.size(), 8U);
  EXPECT_THAT(std::vector(records.begin() + 4, records.end()),
              UnorderedElementsAre(2, 2, 5, 5));
}

TEST_F(SelectionFlagsTest, WeighClasses) {
  const std::string weights = Write("weights.txt", "daisy 1\nred roses 3\n");
  const std::vector<std::int64_t> records =
      Records({"--class_weights", weights, "--epoch_records", "8"});
  EXPECT_THAT(std::vector(records.begin() + 2, records.end()),
              UnorderedElementsAre(2, 2, 2, 5, 5, 5));
}

TEST_F(SelectionFlagsTest, LeaveOutAClassWithoutWeight) {
  const std::string weights = Write("weights.txt", "1 0\n2 3\n");
  EXPECT_THAT(Records({"--class_weights", weights}), ElementsAre(2, 5));
}

TEST_F(SelectionFlagsTest, WantAWeightForEveryClass) {
  const std::string weights = Write("weights.txt", "daisy 1\n");
  EXPECT_THAT(ErrorOf<DataError>({"--class_weights", weights}),
              HasSubstr("has no weight for class red roses"));
}

TEST_F(SelectionFlagsTest, WeighRecords) {
  const std::string weights = Write("weights.txt", "0\n0\n2\n0\n0\n0\n1\n1\n");
  EXPECT_THAT(Records({"--sample_weights", weights, "--epoch_records", "4"}),
              ElementsAre(2, 2, 6, 7));
  EXPECT_EQ(Made({"--sample_weights", weights})->places(), 3);
}

TEST_F(SelectionFlagsTest, SelectionsDescribeThemselves) {
  EXPECT_EQ(
      SelectionText(
          *Made({"--class_weights", "balanced", "--epoch_records", "9"})),
      "an epoch has 9 images: class daisy 5 (of 5 records), class red roses 4 "
      "(of 2 records)");
  EXPECT_EQ(SelectionText(*Made({"--classes", "daisy"})),
            "an epoch has 5 images: the selection 5 (of 5 records)");
  std::vector<RecordGroup> many;
  for (std::int64_t group = 0; group < 12; ++group) {
    many.push_back({.name = "g", .range = {group, 1}});
  }
  EXPECT_THAT(SelectionText(Selection(many)), EndsWith(" and 2 more"));
}

TEST_F(SelectionFlagsTest, MixDataSetsByWeight) {
  const TemporaryFolder other;
  (void)WriteShard(other / "train-00000-of-00002", {1, 2});
  (void)WriteShard(other / "train-00001-of-00002", {3});
  const SelectionChoice flags =
      Parsed({"--mix", folder_.path() + "=1," + other.path() + "=3",
              "--epoch_records", "8"});
  const RecordIndex index = IndexMix(flags, "train");
  EXPECT_THAT(index.shards(), ElementsAre(folder_ / "train-00000-of-00001",
                                          other / "train-00000-of-00002",
                                          other / "train-00001-of-00002"));
  const std::shared_ptr<const Selection> selection =
      MakeSelection(flags, "train", index, std::string(kLabelKey));
  EXPECT_EQ(selection->places_of(0), 2);
  EXPECT_EQ(selection->places_of(1), 6);
  std::vector<std::int64_t> second;
  for (std::int64_t place = 2; place < 8; ++place) {
    second.push_back(selection->RecordAt(1, 0, place));
  }
  EXPECT_THAT(second, UnorderedElementsAre(8, 8, 9, 9, 10, 10));
  const std::string twice = other.path() + "=1," + other.path() + "=3";
  EXPECT_EQ(IndexMix(Parsed({"--mix", twice}), "train").size(), 6);
}

TEST_F(SelectionFlagsTest, MixTarsAndShards) {
  const TemporaryFolder tars;
  WriteFileAtomically(tars / "a.tar", TarFile()
                                          .Add("1.jpg", "image")
                                          .Add("1.cls", "1")
                                          .Add("2.jpg", "image")
                                          .Add("2.cls", "2")
                                          .text());
  const SelectionChoice flags =
      Parsed({"--mix", tars.path() + "=1," + folder_.path() + "=1"});
  const RecordIndex index = IndexMix(flags, "train");
  EXPECT_EQ(index.size(), 10);
  EXPECT_EQ(index.label(1), 2);
  const auto selection =
      MakeSelection(flags, "train", index, std::string(kLabelKey));
  ASSERT_THAT(selection->groups(), SizeIs(2));
  EXPECT_EQ(selection->groups()[0].size(), 2);
  EXPECT_EQ(selection->groups()[1].size(), 8);
  WriteFileAtomically(tars / "b.tar",
                      TarFile().Add("1.jpg", "image").Add("1.cls", "1").text());
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)MakeSelection(flags, "train", index, ""); }),
              HasSubstr("has other records than before"));
}

TEST_F(SelectionFlagsTest, MixOneFolderOfImages) {
  const TemporaryFolder images;
  std::filesystem::create_directories(images / "train/cat");
  std::filesystem::create_directories(images / "train/dog");
  for (const char* name : {"train/cat/1.jpg", "train/dog/1.jpg"}) {
    WriteFileAtomically(images / name, "image");
  }
  const RecordIndex index =
      IndexMix(Parsed({"--mix", images.path() + "=1"}), "train");
  EXPECT_THAT(index.class_names(), ElementsAre("cat", "dog"));
  const SelectionChoice two =
      Parsed({"--mix", images.path() + "=1," + folder_.path() + "=1"});
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)IndexMix(two, "train"); }),
              HasSubstr("a folder of images cannot be part of a list"));
}

TEST_F(SelectionFlagsTest, RefuseAMixThatIsNone) {
  const auto error = [](const std::string& mix, const std::string& split) {
    return MessageOf<UsageError>([&] {
      (void)IndexMix(Parsed({"--mix", mix}), split);
    });
  };
  for (const std::string mix : {"data", "data=", "data=-1", "data=x"}) {
    EXPECT_THAT(error(mix, "train"), HasSubstr("give DIR=WEIGHT")) << mix;
  }
  EXPECT_THAT(error(folder_.path() + "=1", "test"),
              HasSubstr("has no images of split='test'; there is train"));
  EXPECT_THAT(error(folder_ / "none" + "=1", "train"),
              HasSubstr("none is not a folder"));
}

TEST_F(SelectionFlagsTest, RefuseTwoWaysToShareAnEpoch) {
  EXPECT_THAT(ErrorOf({"--class_weights", "balanced", "--sample_weights", "x"}),
              HasSubstr("give one of class_weights"));
  EXPECT_THAT(ErrorOf({"--mix", "a=1", "--classes", "daisy"}),
              HasSubstr("leave subset"));
}

TEST_F(SelectionFlagsTest, FindClassNamesAboveASplitsFolder) {
  std::filesystem::create_directory(folder_ / "train");
  const std::string shard = folder_ / "train/train-00000-of-00001";
  (void)WriteShard(shard, {1});
  const ClassNames names(RecordIndex({shard}), std::string(kLabelKey));
  EXPECT_EQ(names.LabelOf("red roses"), 2);
  EXPECT_EQ(names.NameOf(1), "daisy");
  EXPECT_EQ(names.NameOf(3), "3");
  EXPECT_EQ(ClassNames().NameOf(1), "1");
}

// It does not contain the label of its first name.
TEST_F(SelectionFlagsTest, TakeTheNamesOfAListOfClasses) {
  std::filesystem::remove(folder_ / "dataset.json");
  (void)Write("labels.txt", "daisy\nred roses\n");
  EXPECT_THAT(Records({"--classes", "red roses"}), ElementsAre(2, 5));
  EXPECT_THAT(Records({"--classes", "2"}), ElementsAre(2, 5));
  // The lowest label is 0.
  (void)Write("labels.txt", "background\ndaisy\nred roses\n");
  EXPECT_THAT(Records({"--classes", "red roses"}), ElementsAre(2, 5));
  (void)Write("labels.txt", "daisy\n");
  EXPECT_THAT(ErrorOf<DataError>({"--classes", "daisy"}),
              HasSubstr("labels up to 2: give it a line for each label"));
}

TEST_F(SelectionFlagsTest, NameClassesFromTheirFirstLabel) {
  WriteDatasetInfo(folder_.path(),
                   {.classes = {"daisy", "red roses"}, .first_label = 0});
  const ClassNames names(index_, std::string(kLabelKey));
  EXPECT_EQ(names.LabelOf("daisy"), 0);
  EXPECT_EQ(names.NameOf(1), "red roses");
  EXPECT_EQ(names.NameOf(2), "2");
  EXPECT_EQ(names.NameOf(-1), "-1");
}

}  // namespace
}  // namespace infeed
