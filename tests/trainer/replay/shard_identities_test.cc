#include "trainer/replay/shard_identities.h"

#include <vector>

#include "tests/support/made_index.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ShardIdentitiesTest, NameTheShardThatIsAnotherOne) {
  const MadeIndexFiles files(30, 3);
  const RecordIndex index = files.Index();
  std::string recorded = ShardIdentities(index);
  EXPECT_EQ(recorded.size(), 3 * 8 + 2U);
  EXPECT_EQ(OtherShardsText(index, recorded), "");
  EXPECT_EQ(OtherShardsText(index, ""), "");
  recorded[9] = recorded[9] == '0' ? '1' : '0';
  EXPECT_EQ(OtherShardsText(index, recorded),
            "the shard train-1 is another one");
  recorded[18] = recorded[18] == '0' ? '1' : '0';
  EXPECT_EQ(OtherShardsText(index, recorded),
            "the shard train-1 is another one (and 1 more)");
  EXPECT_EQ(OtherShards(ShardIdentities(index), recorded),
            (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(OtherShardsText(index, recorded.substr(0, 17)),
            "it has 3 training shards, the run had 2");
  EXPECT_TRUE(
      OtherShards(ShardIdentities(index), recorded.substr(0, 17)).empty());
}

TEST(ShardIdentitiesTest, DifferWithTheRecordsOfAShard) {
  const MadeIndexFiles files(30, 3);
  const MadeIndexFiles more(31, 3);  // The first shard has one more.
  EXPECT_EQ(OtherShardsText(more.Index(), ShardIdentities(files.Index())),
            "the shard train-0 is another one");
}

}  // namespace
}  // namespace infeed
