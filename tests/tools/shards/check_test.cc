#include "tools/shards/check.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed::check_test {

// Two shards that a dataset.json describes, the first with two records.
class ShardCheckTest : public ::testing::Test {
 protected:
  ShardCheckTest() {
    RecordFile().Add("a").Add("b").Write(paths_[0]);
    RecordFile().Add("c").Write(paths_[1]);
    info_.splits.push_back(
        {.name = "train",
         .records = 3,
         .shards = {{"train-00000-of-00002", 2, 34, "01234567"},
                    {"train-00001-of-00002", 1, 17, "89abcdef"}}});
    WriteDatasetInfo(folder_.path(), info_);
  }

  const TemporaryFolder folder_;
  const std::vector<std::string> paths_ = {folder_ / "train-00000-of-00002",
                                           folder_ / "train-00001-of-00002"};
  DatasetInfo info_;
};

TEST_F(ShardCheckTest, FindsTheEntriesOfShards) {
  const ExpectedShards expected(paths_);
  EXPECT_EQ(expected.Find(paths_[1]).value().crc32c, "89abcdef");
  EXPECT_EQ(expected.Find(folder_ / "other"), std::nullopt);
  EXPECT_THAT(expected.problems(), IsEmpty());
  EXPECT_EQ(ExpectedShards().Find(paths_[1]), std::nullopt);
}

TEST_F(ShardCheckTest, FindsEntriesAboveAFolderOfASplit) {
  std::filesystem::create_directory(folder_ / "train");
  std::vector<std::string> moved;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    info_.splits[0].shards[i].name.insert(0, "train/");
    moved.push_back(folder_ / info_.splits[0].shards[i].name);
    std::filesystem::rename(paths_[i], moved.back());
  }
  WriteDatasetInfo(folder_.path(), info_);
  EXPECT_EQ(ExpectedShards(moved).Find(moved[0]).value().records, 2);
}

TEST_F(ShardCheckTest, SaysHowAShardDiffersFromItsEntry) {
  const DatasetInfo::Shard& entry = info_.splits[0].shards[0];
  EXPECT_THAT(Differences(entry, 2, 34, 0x01234567), IsEmpty());
  EXPECT_THAT(Differences(entry, 2, 34, 0x89abcdef),
              ElementsAre("has the CRC-32C 89abcdef, dataset.json says "
                          "01234567"));
  EXPECT_THAT(Differences(entry, 1, 8, 0x01234567),
              ElementsAre("holds 1 record, dataset.json says 2",
                          "has 8 bytes, dataset.json says 34"));
}

TEST_F(ShardCheckTest, NamesMissingShardsOfASetButNoneOfOneThatIsNamed) {
  std::filesystem::remove(paths_[0]);
  for (const bool dataset_json : {true, false}) {
    EXPECT_THAT(
        FaultsAround({paths_[1]}, {folder_.path()}, dataset_json).missing,
        ElementsAre(Pair(paths_[0], dataset_json ? 2 : -1)));
  }
  EXPECT_FALSE(FaultsAround({paths_[1]}, {paths_[1]}, true).any());
  EXPECT_THAT(
      FaultsAround({folder_ / "x-00001-of-00002.tar"}, {folder_.path()}, true)
          .missing,
      ElementsAre(Pair(folder_ / "x-00000-of-00002.tar", -1)));
}

}  // namespace infeed::check_test
