// The index of shards that are compressed.

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/store/record_index.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PackedIndexTest : public ::testing::TestWithParam<Compression> {
 protected:
  PackedIndexTest() { WritePacked(shard_, Records().bytes(), GetParam()); }

  static RecordFile Records() {
    return RecordFile().Add("a").Add("").Add("hello").Add(
        std::string(300'000, 'x'));
  }
  static std::vector<std::int64_t> OffsetsOf(const RecordIndex& index) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < index.size(); ++i) {
      offsets.push_back(index.at(i).offset);
    }
    return offsets;
  }

  const TemporaryFolder folder_;
  const std::string shard_ = folder_ / "train-00000-of-00001.gz";
  const std::string index_file_ =
      folder_ / ".infeed/train-00000-of-00001.gz.index";
};

INSTANTIATE_TEST_SUITE_P(All, PackedIndexTest,
                         ::testing::Values(Compression::kGzip,
                                           Compression::kZlib),
                         [](const auto& test) {
                           return std::string(CompressionName(test.param));
                         });

TEST_P(PackedIndexTest, HasThePlacesInTheUnpackedBytes) {
  const std::string plain = Records().Write(folder_ / "plain");
  const RecordIndex index({shard_, plain});
  EXPECT_EQ(index.size(), 8);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(index.at(i).offset, index.at(i + 4).offset);
    EXPECT_EQ(index.at(i).length, index.at(i + 4).length);
  }
  EXPECT_EQ(index.max_length(), 300'000);
  EXPECT_EQ(index.compression(0), GetParam());
  EXPECT_EQ(index.compression(1), Compression::kNone);
  EXPECT_TRUE(index.any_compressed());
  EXPECT_FALSE(RecordIndex({plain}).any_compressed());
}

TEST_P(PackedIndexTest, ReadsBackTheFileThatItLeft) {
  const RecordIndex built({shard_});
  ASSERT_TRUE(fs::exists(index_file_));
  // Nothing that could be unpacked again.
  const fs::file_time_type time = fs::last_write_time(shard_);
  WriteFileAtomically(shard_, std::string(fs::file_size(shard_), 'x'));
  fs::last_write_time(shard_, time);
  const RecordIndex cached({shard_});
  EXPECT_EQ(OffsetsOf(cached), OffsetsOf(built));
  EXPECT_EQ(cached.compression(0), GetParam());
  EXPECT_EQ(cached.identity(), built.identity());
}

TEST_P(PackedIndexTest, IsNoIndexForRandomAccess) {
  const RecordIndex built({shard_});
  EXPECT_TRUE(FindFrames(FileSource(shard_)).has_value());
  EXPECT_FALSE(FindIndex(FileSource(shard_)).has_value());
  EXPECT_FALSE(FindIndexHint(FileSource(shard_)).has_value());
}

TEST_P(PackedIndexTest, NeverTrustsWhatCannotBe) {
  const FileSource shard(shard_);
  for (const ShardFrames& frames :
       {ShardFrames{GetParam(), 40, {}}, ShardFrames{GetParam(), 0, {0}},
        ShardFrames{GetParam(), 15, {0}}, ShardFrames{GetParam(), -40, {0}},
        ShardFrames{static_cast<Compression>(3), 40, {0}}}) {
    (void)SaveFrames(shard, frames);
    EXPECT_FALSE(FindFrames(shard).has_value());
  }
  (void)SaveFrames(shard, {GetParam(), 0, {}});
  EXPECT_TRUE(FindFrames(shard).has_value());
}

TEST_P(PackedIndexTest, NamesTheRecordWhereTheStreamEnds) {
  std::string bytes = ReadWholeFile(shard_, 1 << 20);
  WriteFileAtomically(shard_, bytes.substr(0, bytes.size() - 20));
  EXPECT_THAT(
      [&] { RecordIndex index({shard_}); },
      ThrowsMessage<DataError>(AllOf(HasSubstr(shard_ + ": record "),
                                     HasSubstr("stream cannot be unpacked"),
                                     HasSubstr("it is cut short"))));
  EXPECT_FALSE(fs::exists(index_file_));
}

TEST_P(PackedIndexTest, HoldsTheLimit) {
  EXPECT_THAT(
      [&] { RecordIndex index({shard_}, {.max_record_bytes = 1000}); },
      ThrowsMessage<DataError>(HasSubstr("record 3 at byte 54: the record "
                                         "has 300000 bytes")));
}

TEST(PackedIndexOfTensorflowTest, IsThatOfThePlainFile) {
  const std::string data = INFEED_TEST_DATA;
  const RecordIndexOptions options = {.use_cache = false};
  const RecordIndex plain({data + "/tensorflow.tfrecord"}, options);
  for (const std::string name : {"gzip", "zlib"}) {
    const RecordIndex packed({data + "/tensorflow." + name + ".tfrecord"},
                             options);
    ASSERT_EQ(packed.size(), plain.size());
    for (std::int64_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(packed.at(i).offset, plain.at(i).offset);
      EXPECT_EQ(packed.at(i).length, plain.at(i).length);
    }
  }
}

}  // namespace
}  // namespace infeed
