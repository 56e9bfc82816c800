#include <filesystem>
#include <string>

#include "records/store/open_shards.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class MappedShardsTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ =
      RecordFile().Add(std::string(9000, 'a')).Write(folder_ / "long");
  const RecordIndex index_{{path_}, {.use_cache = false}};
  MappedShards mapped_{index_};
};

TEST_F(MappedShardsTest, MapsAShardOnce) {
  const MappedFile* const file = mapped_.Find(0);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->bytes().size(), std::filesystem::file_size(path_));
  EXPECT_EQ(mapped_.Find(0), file);
}

TEST_F(MappedShardsTest, AMappingThatLostBytesIsUsedNoMore) {
  const MappedFile* const file = mapped_.Find(0);
  ASSERT_NE(file, nullptr);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(file->bytes().front(), std::byte{0});
  EXPECT_EQ(mapped_.Find(0), nullptr);
}

TEST_F(MappedShardsTest, AShardIsResidentOnceAllItsBytesWereAnnounced) {
  mapped_.BeginRound();
  EXPECT_FALSE(mapped_.IsResident(index_.at(0)));
  EXPECT_TRUE(mapped_.IsResident(index_.at(0)));
}

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
