#include "records/store/resident_shards.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ResidentShardsTest, HasAShardAfterAsManyBytesAsItHas) {
  ResidentShards shards(2);
  EXPECT_FALSE(shards.Has(0, 60, 100));
  EXPECT_FALSE(shards.Has(0, 60, 100));
  EXPECT_TRUE(shards.Has(0, 60, 100));
  EXPECT_FALSE(shards.Has(1, 60, 100));
}

TEST(ResidentShardsTest, ForgetsAllWhenAPageHadToBeWaitedFor) {
  ResidentShards shards(1);
  shards.NoteMajorFaults(7);
  EXPECT_FALSE(shards.Has(0, 100, 100));
  shards.NoteMajorFaults(7);
  EXPECT_TRUE(shards.Has(0, 100, 100));
  shards.NoteMajorFaults(8);
  EXPECT_FALSE(shards.Has(0, 100, 100));
}

}  // namespace
}  // namespace infeed
