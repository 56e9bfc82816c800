#include "records/files/shard_set.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/files/shards.h"
#include "tests/support/empty_files.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// A data set's folder, filled with files of no bytes.
class ShardSetTest : public ::testing::Test {
 protected:
  void Make(const std::vector<std::string>& names) {
    MakeEmptyFiles(folder_, names);
  }
  // dataset.json with a split of these shards, of 10, 11, ... records.
  void Describe(const std::string& split,
                const std::vector<std::string>& names) {
    DatasetInfo::Split described = {.name = split, .records = 0, .shards = {}};
    for (const std::string& name : names) {
      const std::int64_t records = 10 + std::ssize(described.shards);
      described.shards.push_back(
          {.name = name, .records = records, .bytes = 0, .crc32c = "00000000"});
    }
    WriteDatasetInfo(folder_.path(),
                     {.seed = 0, .classes = {}, .splits = {described}});
  }
  [[nodiscard]] std::string Refusal(const std::string& spec) const {
    return MessageOf<DataError>([&] { (void)ListShards(folder_ / spec); });
  }
  [[nodiscard]] std::string SplitRefusal(const std::string& split) const {
    return MessageOf<DataError>(
        [&] { (void)FindSplit(folder_.path(), split); });
  }

  const TemporaryFolder folder_;
};

TEST_F(ShardSetTest, NamesMissingNumbers) {
  Make({"train-00000-of-00004", "train-00002-of-00004"});
  const std::string text =
      "2 shards are missing: " + (folder_ / "train-00001-of-00004") + ", " +
      (folder_ / "train-00003-of-00004") +
      "; no dataset.json has the number of missing images: restore them, "
      "name those that are there, or continue without them with "
      "--allow_missing_shards";
  EXPECT_EQ(Refusal(""), text);
  EXPECT_EQ(Refusal("train-*"), text);
  EXPECT_EQ(SplitRefusal("train"), text);
  EXPECT_THAT(FindSplit(folder_.path(), "validation"), IsEmpty());
}

TEST_F(ShardSetTest, NamesMissingNumbersOfEveryForm) {
  for (const char* form :
       {"tfds/set-train.tfrecord-0000N-of-00002", "a/x-0000N-of-00002.tfrecord",
        "b/train-0000N-of-00002.tfrec.gz", "c/train-0000N-of-00002.tar",
        "d/x-0000N-of-00002.ZIP", "e/val/x-0000N-of-00002.tar.gz"}) {
    const std::string name(form);
    const auto numbered = [&](char number) {
      std::string one = name;
      one[one.find('N')] = number;
      return one;
    };
    Make({numbered('1')});
    const std::string folder = name.substr(0, name.find('/'));
    const auto is_named =
        HasSubstr("1 shard is missing: " + (folder_ / numbered('0')) + ";");
    EXPECT_THAT(Refusal(folder), is_named);
    EXPECT_THAT(Refusal(name.substr(0, name.rfind('/')) + "/*"), is_named);
    EXPECT_THAT(ListShards(folder_ / numbered('1')), SizeIs(1));
    Make({numbered('0')});
    EXPECT_THAT(ListShards(folder_ / folder), SizeIs(2)) << name;
  }
}

TEST_F(ShardSetTest, AFolderOfASplitHasSetsOfItsOwn) {
  Make({"train/x-00000-of-00002.tar", "train/x-00001-of-00002.tar",
        "val/x-00000-of-00001.tar", "x-00000-of-00001.tar"});
  EXPECT_THAT(ListShards(folder_.path()), SizeIs(4));
}

TEST_F(ShardSetTest, ExpectsOfAPatternWhatItMatchesAndOfAFileNoOther) {
  Make({"train-00000-of-00004", "train-00002-of-00004"});
  EXPECT_THAT(ListShards(folder_ / "train-0000[02]-of-00004"), SizeIs(2));
  EXPECT_THAT(ListShards((folder_ / "train-00000-of-00004") + "," +
                         (folder_ / "train-00002-of-00004")),
              SizeIs(2));
  EXPECT_THAT(Refusal("train-0000[0-2]-*"),
              AllOf(HasSubstr("train-00001-of-00004;"),
                    Not(HasSubstr("train-00003-of-00004"))));
}

TEST_F(ShardSetTest, NamesAndCountsWhatTheDescriptionLists) {
  Make({"train-00000-of-00003"});
  Describe("train", {"train-00000-of-00003", "train-00001-of-00003",
                     "train-00002-of-00003"});
  EXPECT_THAT(SplitRefusal("train"), HasSubstr("; 23 images are missing:"));
  Describe("train", {"train-00000-of-00003", "train-00001-of-00003"});
  EXPECT_THAT(SplitRefusal("train"), HasSubstr("; no dataset.json has"));
  WriteFileAtomically(folder_ / "dataset.json", "{");
  EXPECT_THAT(SplitRefusal("train"), HasSubstr("; no dataset.json has"));
}

TEST_F(ShardSetTest, MissesASplitOfWhichNothingIsLeft) {
  Make({"train-00000-of-00001"});
  Describe("validation", {"validation-00000-of-00001"});
  const std::string text =
      "1 shard is missing: " + (folder_ / "validation-00000-of-00001") +
      "; 10 images are missing";
  EXPECT_THAT(SplitRefusal("validation"), StartsWith(text));
  EXPECT_THAT(Refusal(""), StartsWith(text));
  EXPECT_THAT(FindSplit(folder_.path(), "train"), SizeIs(1));
  EXPECT_THAT(ListShards(folder_ / "train-*"), SizeIs(1));
}

TEST_F(ShardSetTest, FindsTheDescriptionOfTheReferencesLayout) {
  Make({"train/train-00000-of-00001"});
  Describe("train",
           {"train/train-00000-of-00001", "train/more-00000-of-00001"});
  for (const char* spec : {"", "train", "train/*"}) {
    EXPECT_THAT(Refusal(spec),
                HasSubstr("train/more-00000-of-00001; 11 images"))
        << spec;
  }
}

TEST_F(ShardSetTest, TakesShardsPackedSince) {
  Make({"train-00000-of-00002.gz", "train-00001-of-00002"});
  Describe("train", {"train-00000-of-00002", "train-00001-of-00002"});
  EXPECT_THAT(FindSplit(folder_.path(), "train"), SizeIs(2));
}

TEST_F(ShardSetTest, RefusesShardsOfAnotherSizeThanListed) {
  const std::vector<std::string> names = {"train-00000-of-00002",
                                          "train-00001-of-00002"};
  Make(names);
  Describe("train", names);
  EXPECT_THAT(FindSplit(folder_.path(), "train"), SizeIs(2));
  const std::string shard = folder_ / names[1];
  WriteFileAtomically(shard, "of another conversion");
  const std::string text =
      "1 shard differs from dataset.json: " + shard + " (21 bytes, not 0)";
  EXPECT_THAT(SplitRefusal("train"), StartsWith(text + ": restore all shards"));
  for (const char* spec : {"", "train-*"}) {
    EXPECT_THAT(Refusal(spec), StartsWith(text)) << spec;
  }
  EXPECT_THAT(ListShards(folder_ / "train-00000-*"), SizeIs(1));
  EXPECT_THAT(ListShards(shard), SizeIs(1));

  std::vector<std::string> said;
  const OnShardSetFaults policy = FaultsPolicy(
      true, [&](const std::string& line) { said.push_back(line); });
  EXPECT_THAT(FindSplit(folder_.path(), "train", policy), SizeIs(2));
  EXPECT_THAT(said, ElementsAre(text));
  std::filesystem::remove(folder_ / "dataset.json");
  EXPECT_THAT(FindSplit(folder_.path(), "train"), SizeIs(2));
}

TEST_F(ShardSetTest, RefusesTwoSetsInOne) {
  Make({"two/a-00000-of-00001", "two/a-00000-of-00002", "two/a-00001-of-00002",
        "twice/a-00000-of-00001", "twice/a-00000-of-00001.gz",
        "beyond/a-00000-of-00001", "beyond/a-00007-of-00001",
        "both/train-00000-of-00001", "both/train/train-00000-of-00001",
        "forms/a-00000-of-00001.tar", "forms/a-00000-of-00001.zip"});
  EXPECT_THAT(
      Refusal("two"),
      AllOf(HasSubstr("two/a-00000-of-00001 and "),
            HasSubstr("two/a-00000-of-00002 belong to different sets: move")));
  EXPECT_THAT(ListShards(folder_ / "two/*-of-00002"), SizeIs(2));
  EXPECT_THAT(Refusal("twice"), HasSubstr("are the same shard of a set"));
  EXPECT_THAT(Refusal("beyond"),
              HasSubstr("a-00007-of-00001 is beyond the last number"));
  EXPECT_THAT(Refusal("both"), HasSubstr("are the same shard of a set"));
  EXPECT_THAT(Refusal("forms"), HasSubstr("are the same shard of a set"));
}

TEST_F(ShardSetTest, GoesOnWithoutThemWhenTold) {
  Make({"train-00000-of-00002", "a-00000-of-00001", "a-00000-of-00001.gz"});
  std::vector<std::string> said;
  const OnShardSetFaults policy = FaultsPolicy(
      true, [&](const std::string& line) { said.push_back(line); });
  EXPECT_THAT(FindSplit(folder_.path(), "train", policy), SizeIs(1));
  EXPECT_THAT(said,
              ElementsAre(AllOf(StartsWith("1 shard is missing: "),
                                EndsWith("the number of missing images"))));
  EXPECT_THROW((void)ListShards(folder_.path(), policy), DataError);
}

TEST_F(ShardSetTest, TakesAnyNumbersAndNamesAFew) {
  Make({"one-00001-of-00002", "one-00002-of-00002", "many-000000-of-000002",
        "a-00000-of-00100", "b-00000-of-99999999999999999999999",
        "c-00000-of-9999999999999"});
  const std::string refusal = Refusal("a-*");
  EXPECT_THAT(refusal, AllOf(StartsWith("99 shards are missing: "),
                             HasSubstr("a-00020-of-00100 and 79 more; ")));
  EXPECT_THAT(ListShards(folder_ / "b-*"), SizeIs(1));
  EXPECT_THAT(ListShards(folder_ / "one-*"), SizeIs(2));
  EXPECT_THAT(Refusal("many-*"),
              HasSubstr("1 shard is missing: " +
                        (folder_ / "many-000001-of-000002") + ";"));
  EXPECT_THAT(Refusal("c-*"), StartsWith("100000 shards are missing: "));
}

}  // namespace
}  // namespace infeed
