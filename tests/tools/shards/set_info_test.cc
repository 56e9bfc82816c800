#include "tools/shards/set_info.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::set_info_test {

using Names = std::vector<std::string>;

// Data sets in folders of a test's own.
class SetInfoTest : public ::testing::Test {
 protected:
  std::string Shard(const std::string& name, const std::vector<int>& labels) {
    RecordFile file;
    for (const int label : labels) {
      file.Add(PayloadOf({.image = "image", .label = label}));
    }
    return file.Write(Place(name));
  }
  // Its second frame is broken.
  std::string Damaged(const std::string& name) {
    return RecordFile().Add("a").AddRaw("garbage").Add("b").Write(Place(name));
  }
  void Describe(const std::string& folder, const DatasetInfo& info) {
    WriteDatasetInfo(Place(folder), info);
  }
  void List(const std::string& folder, const std::string& names) {
    WriteFileAtomically(Place(folder + "/labels.txt"), names);
  }
  std::string Place(const std::string& name) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(
        path.has_extension() ||
                path.filename().string().find("-of-") != std::string::npos
            ? path.parent_path()
            : path);
    return path.string();
  }
  static std::string Refusal(const Names& shards, const Names& others = {}) {
    return MessageOf<UsageError>([&] { (void)CommonInfo(shards, others); });
  }

  const TemporaryFolder folder_;
  const std::string train_ = "/train-00000-of-00001";
  const std::string validation_ = "/validation-00000-of-00001";
};

TEST_F(SetInfoTest, NamesThatDifferAreRefused) {
  const Names shards = {Shard("a" + train_, {1}), Shard("b" + train_, {1})};
  List("a", "cat\ndog\n");
  List("b", "dog\ncat\n");
  EXPECT_THAT(Refusal(shards),
              AllOf(HasSubstr(folder_ / "a"), HasSubstr(folder_ / "b"),
                    HasSubstr("number their classes differently")));
  EXPECT_THAT(Refusal({shards[0]}, {shards[1]}),
              HasSubstr("give an --output without other shards"));
  List("b", "cat\n");
  EXPECT_THAT(CommonInfo(shards).value().classes, ElementsAre("cat", "dog"));
}

TEST_F(SetInfoTest, LabelsThatCountDifferentlyAreRefused) {
  const Names shards = {Shard("a" + train_, {1, 2}), Shard("b" + train_, {0})};
  EXPECT_EQ(CommonInfo(shards), std::nullopt);
  for (const Names& classes : {Names{}, Names{"cat", "dog"}}) {
    Describe("a", {.classes = classes, .first_label = 1});
    EXPECT_THAT(Refusal(shards),
                AllOf(HasSubstr("count from 1 in the dataset.json of "),
                      HasSubstr("from 0 in " + (folder_ / "b"))));
  }
  List("b", "cat\ndog\n");
  EXPECT_THAT(Refusal(shards), HasSubstr("count from 1"));
  Describe("b", {.classes = {}, .first_label = 0});
  EXPECT_NE(Refusal(shards), "");
}

TEST_F(SetInfoTest, NamesOfAListGetTheLabelOfTheFirst) {
  const std::string train = Shard("a" + train_, {0, 1, 2});
  const std::string part = Shard("a" + validation_, {1});
  List("a", "cat\ndog\nemu\n");
  EXPECT_EQ(CommonInfo({part}).value().first_label, 0);
  (void)Shard("a" + train_, {1, 2, 3});
  const DatasetInfo info = CommonInfo({part}).value();
  EXPECT_EQ(info.first_label, 1);
  EXPECT_THAT(info.classes, ElementsAre("cat", "dog", "emu"));
  List("a", "cat\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)CommonInfo({train}); }),
              HasSubstr("give it a line for each label"));
}

TEST_F(SetInfoTest, DamageHidesTheFirstLabel) {
  const std::string damaged = Damaged("a" + train_);
  EXPECT_EQ(CommonInfo({damaged}), std::nullopt);
  List("a", "cat\ndog\n");
  const DatasetInfo info = CommonInfo({damaged}).value();
  EXPECT_THAT(info.classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(info.first_label, std::nullopt);
  EXPECT_THAT(Refusal({damaged, Shard("b" + train_, {1})}),
              AllOf(HasSubstr(damaged), HasSubstr("repair each data set")));
  // Only the list beside the new shards can have these names.
  StagedFolder out(folder_ / "out");
  DescribeShards(out, info,
                 {{.name = "train-00000-of-00001", .crc32c = "00000000"}}, {});
  out.Commit({});
  EXPECT_THAT(ReadDatasetInfo(out.path()).value().classes, IsEmpty());
  EXPECT_EQ(ReadWholeFile(folder_ / "out/labels.txt", 99), "cat\ndog\n");
}

TEST_F(SetInfoTest, OtherShardsStayInAFolder) {
  const std::string old = Shard("a" + train_, {1});
  const std::string other = Shard("a" + validation_, {1});
  const std::string below = Shard("a/test/test-00000-of-00001", {1});
  WriteFileAtomically(Place("a/x.zip"), "");
  EXPECT_THAT(OtherShardsIn(folder_ / "a", {old}), ElementsAre(below, other));
  EXPECT_THAT(OtherShardsIn(folder_ / "none", {}), IsEmpty());
}

TEST_F(SetInfoTest, AMergedFileIsDescribedWhereItIsAlone) {
  const Names shards = {Shard("a" + train_, {1})};
  const std::string file = folder_ / "out/all.tfrecord";
  EXPECT_EQ(InfoForMerged(shards, file), std::nullopt);
  Describe("a", {.seed = 3, .classes = {"cat"}, .first_label = 1});
  EXPECT_EQ(InfoForMerged(shards, file).value().seed, 3U);
  // Of an older file.
  Describe("out", {.classes = {"dog"}, .first_label = 1});
  EXPECT_THAT(InfoForMerged(shards, file).value().classes, ElementsAre("cat"));
  const Names plain = {Shard("plain" + train_, {1})};
  EXPECT_THAT(InfoForMerged(plain, file).value().classes, IsEmpty());
  // Of another file that stays.
  (void)Shard("out/other.tfrecord", {1});
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)InfoForMerged(shards, file); }),
              HasSubstr("number their classes differently"));
  Describe("out", {.classes = {"cat"}, .first_label = 1});
  EXPECT_THAT(InfoForMerged(shards, file).value().classes, ElementsAre("cat"));
  // The other file would get names.
  std::filesystem::remove(folder_ / "out/dataset.json");
  EXPECT_EQ(InfoForMerged(shards, file), std::nullopt);
  // The description of an input stays as it is.
  EXPECT_EQ(InfoForMerged(shards, folder_ / "a/all"), std::nullopt);
}

}  // namespace infeed::set_info_test
