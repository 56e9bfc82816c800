#include "records/store/open_shards.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/files/shards.h"
#include "tests/support/matchers.h"
#include "tests/support/open_files.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// Ten files; file i has i bytes.
class OpenShardsTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kShards = 10;

  OpenShardsTest() {
    for (std::int64_t shard = 0; shard < kShards; ++shard) {
      paths_.push_back(folder_ / ShardName("train", shard, kShards));
      std::ofstream(paths_.back())
          << std::string(static_cast<std::size_t>(shard), 'x');
      files_.push_back({.path = paths_.back()});
    }
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
  std::vector<LabelledImage> files_;
};

TEST_F(OpenShardsTest, KeepsAtMostTheLimitOpen) {
  const RecordIndex index = RecordIndex::OfImages(files_);
  OpenShards open(index, 2);
  for (std::int32_t i = 0; i < 30; ++i) {
    EXPECT_EQ(open.Open(i * 7 % 10)->size(), i * 7 % 10);
    EXPECT_LE(CountOpenFiles(folder_.path()), 2U);
  }
  EXPECT_EQ(CountOpenFiles(folder_.path()), 2U);
}

TEST_F(OpenShardsTest, KeepsTheShardsThatWereUsedLast) {
  const RecordIndex index = RecordIndex::OfImages(files_);
  OpenShards open(index, 2);
  for (const std::int32_t shard : {0, 1, 0, 2}) {
    EXPECT_EQ(open.Open(shard)->size(), shard);
  }
  std::filesystem::remove(paths_[0]);
  std::filesystem::remove(paths_[1]);
  EXPECT_EQ(open.Open(0)->size(), 0) << "shard 0 is still open";
  EXPECT_THAT([&] { (void)open.Open(1); },
              ThrowsMessage<IoError>(HasSubstr("cannot open")));
}

TEST_F(OpenShardsTest, AReaderKeepsItsSourceOpen) {
  const RecordIndex index = RecordIndex::OfImages(files_);
  OpenShards open(index, 1);
  const auto first = open.Open(3);
  (void)open.Open(4);
  std::vector<std::byte> bytes(3);
  EXPECT_EQ(first->ReadAt(0, bytes), 3U);
}

TEST_F(OpenShardsTest, FindsShardsWithOtherBytesThanWereIndexed) {
  const std::string first = RecordFile().Add("one").Write(folder_ / "first");
  const std::string other = RecordFile().Add("two").Write(folder_ / "other");
  const RecordIndex index({first, other});
  EXPECT_THAT(FindChangedShards(index), IsEmpty());
  std::filesystem::last_write_time(
      other, std::filesystem::last_write_time(other) - std::chrono::seconds(1));
  EXPECT_THAT(FindChangedShards(index), ElementsAre(other));
  RecordFile().Add("longer").Write(first);
  EXPECT_THAT(FindChangedShards(index), ElementsAre(first, other));
}

TEST_F(OpenShardsTest, NeedsRoomForOneShard) {
  const RecordIndex index = RecordIndex::OfImages(files_);
  EXPECT_THAT([&] { OpenShards(index, 0); },
              ThrowsMessage<UsageError>(HasSubstr("max_open_shards")));
}

}  // namespace
}  // namespace infeed
