#include "records/store/record_index.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/side_file.h"
#include "records/store/dali_index.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// A folder with one shard of three records, 1, 0 and 5 bytes long.
class RecordIndexTest : public ::testing::Test {
 protected:
  RecordIndexTest() { Shard().Write(shard_); }

  static RecordFile Shard() {
    return RecordFile().Add("a").Add("").Add("hello");
  }

  static std::vector<std::int64_t> OffsetsOf(const RecordIndex& index) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < index.size(); ++i) {
      offsets.push_back(index.at(i).offset);
    }
    return offsets;
  }

  const TemporaryFolder folder_;
  const std::string shard_ = folder_ / "train-00000-of-00001";
  const std::string index_file_ =
      folder_ / ".infeed/train-00000-of-00001.index";
};

TEST_F(RecordIndexTest, FindsEveryRecord) {
  const RecordIndex index({shard_}, {.use_cache = false});
  EXPECT_FALSE(fs::exists(folder_ / ".infeed"));
  EXPECT_EQ(RecordIndex({}).size(), 0);
  EXPECT_EQ(RecordIndex({}).max_length(), 0);
  EXPECT_EQ(index.size(), 3);
  EXPECT_EQ(index.max_length(), 5);
  EXPECT_THAT(OffsetsOf(index), ElementsAre(0, 17, 33));
  EXPECT_EQ(index.at(0).length, 1);
  EXPECT_EQ(index.at(1).length, 0);
  EXPECT_EQ(index.at(2).length, 5);
  EXPECT_EQ(index.at(2).number, 2);
}

TEST_F(RecordIndexTest, PassesOverEmptyShards) {
  const std::string empty = RecordFile().Write(folder_ / "empty");
  const std::string last = RecordFile().Add("x").Write(folder_ / "last");
  const RecordIndex index({empty, shard_, empty, last, empty});
  EXPECT_EQ(index.size(), 4);
  EXPECT_EQ(index.at(0).shard, 1);
  EXPECT_EQ(index.at(2).shard, 1);
  EXPECT_EQ(index.at(3).shard, 3);
  EXPECT_EQ(index.at(3).number, 0);
  EXPECT_EQ(index.shard_size(1), 3);
  EXPECT_EQ(index.shard_size(2), 0);
}

TEST_F(RecordIndexTest, RecordsSmallerAndLargerThanAPage) {
  RecordFile file;
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < 300; ++i) {
    offsets.push_back(static_cast<std::int64_t>(file.bytes().size()));
    file.Add(std::string(i * 37 % 9000, 'x'));
  }
  const RecordIndex index({file.Write(folder_ / "big")});
  EXPECT_EQ(OffsetsOf(index), offsets);
}

TEST_F(RecordIndexTest, ReadsBackTheFileThatItLeft) {
  const RecordIndex built({shard_});
  ASSERT_TRUE(fs::exists(index_file_));
  // Nothing that is read again would be an index now.
  const fs::file_time_type time = fs::last_write_time(shard_);
  RecordFile().AddRaw(std::string(Shard().bytes().size(), 'x')).Write(shard_);
  fs::last_write_time(shard_, time);
  const RecordIndex cached({shard_});
  EXPECT_EQ(OffsetsOf(cached), OffsetsOf(built));
  EXPECT_EQ(cached.identity(), built.identity());
}

TEST_F(RecordIndexTest, BuildsAnewWhenTheShardsSizeChanges) {
  const RecordIndex before({shard_});
  const fs::file_time_type time = fs::last_write_time(shard_);
  Shard().Add("more").Write(shard_);
  fs::last_write_time(shard_, time);
  EXPECT_EQ(RecordIndex({shard_}).size(), 4);
}

TEST_F(RecordIndexTest, NeverTrustsOffsetsThatCannotBe) {
  const FileSource shard(shard_);
  for (const FrameOffsets& offsets : {FrameOffsets{},
                                      {1},
                                      {0, 15},
                                      {0, 40},
                                      {0, 17, 17},
                                      {0, -1},
                                      {0, 33, 17}}) {
    (void)SaveIndex(shard, offsets);
    EXPECT_FALSE(FindIndex(shard).has_value());
  }
}

TEST_F(RecordIndexTest, KnowsWhatStoodWhereBeforeTheDamage) {
  const RecordIndex before({shard_});
  RecordFile().Add("a").Write(shard_);
  EXPECT_FALSE(FindIndex(FileSource(shard_)).has_value());
  EXPECT_EQ(FindIndexHint(FileSource(shard_)), OffsetsOf(before));
  fs::remove(index_file_);
  EXPECT_FALSE(FindIndexHint(FileSource(shard_)).has_value());
}

TEST(LostRecordsTest, NamesThoseThatTheBytesHeld) {
  const FrameOffsets known = {0, 17, 33, 54};
  EXPECT_EQ(LostRecords(known, 17, 16), (RecordRange{1, 1}));
  EXPECT_EQ(LostRecords(known, 0, 33), (RecordRange{0, 2}));
  EXPECT_EQ(LostRecords(known, 33, 1000), (RecordRange{2, 2}));
  EXPECT_EQ(LostRecords(known, 18, 15), std::nullopt);
  EXPECT_EQ(LostRecords(known, 17, 20), std::nullopt);
  EXPECT_EQ(LostRecords(known, 99, 1), std::nullopt);
}

TEST_F(RecordIndexTest, FallsBackToTheUsersCache) {
  const EnvironmentVariable cache("XDG_CACHE_HOME", folder_ / "cache");
  RecordFile().Write(folder_ / ".infeed");  // No folder can be made there.
  EXPECT_EQ(RecordIndex({shard_}).size(), 3);
  EXPECT_TRUE(
      fs::exists(SideFolder(folder_.path()) + "/train-00000-of-00001.index"));
  EXPECT_TRUE(FindIndex(FileSource(shard_)).has_value());
}

TEST_F(RecordIndexTest, WorksWhereNothingCanBeKept) {
  RecordFile().Write(folder_ / ".infeed");
  const EnvironmentVariable cache("XDG_CACHE_HOME", shard_);
  EXPECT_EQ(RecordIndex({shard_}).size(), 3);
  EXPECT_THROW((void)SaveIndex(FileSource(shard_), {}), IoError);
}

TEST_F(RecordIndexTest, TheIdentityTellsDataApart) {
  const std::string identity = RecordIndex({shard_}).identity();
  EXPECT_EQ(RecordIndex({shard_}).identity(), identity);
  const std::string copy = folder_ / "other/train-00000-of-00001";
  fs::create_directory(folder_ / "other");
  EXPECT_EQ(RecordIndex({Shard().Write(copy)}).identity(), identity);
  EXPECT_NE(RecordIndex({shard_, copy}).identity(), identity);
  EXPECT_NE(RecordIndex({Shard().Write(folder_ / "name")}).identity(),
            identity);
  Shard().Truncate(21).Add("hallo ").Write(copy);
  EXPECT_NE(RecordIndex({copy}).identity(), identity);
}

TEST_F(RecordIndexTest, LabelsBesideTheRecordsTellDataApart) {
  const auto of_class = [this](std::int64_t label) {
    return RecordIndex::OfImages({{.path = shard_, .label = label}});
  };
  EXPECT_EQ(of_class(1).identity(), of_class(2).identity());
  EXPECT_EQ(of_class(1).identity_with_labels(),
            of_class(1).identity_with_labels());
  EXPECT_NE(of_class(1).identity_with_labels(),
            of_class(2).identity_with_labels());
  const RecordIndex examples({shard_});
  EXPECT_EQ(examples.identity_with_labels(), examples.identity());
}

TEST_F(RecordIndexTest, NamesABrokenFrame) {
  const std::string bad = Shard().FlipByte(17).Write(folder_ / "bad");
  EXPECT_THAT(
      [&] {
        RecordIndex index({shard_, bad});
      },
      ThrowsMessage<DataError>(
          HasSubstr(bad + ": record 1 at byte 17: corrupted record: the "
                          "length's checksum")));
  Shard().Truncate(1).Write(bad);
  EXPECT_THAT([&] { RecordIndex index({bad}); },
              ThrowsMessage<DataError>(HasSubstr("record 2 at byte 33: "
                                                 "truncated record")));
}

TEST_F(RecordIndexTest, HoldsTheLimitWhetherCachedOrNot) {
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT(
        [&] { RecordIndex index({shard_}, {.max_record_bytes = 4}); },
        ThrowsMessage<DataError>(HasSubstr("5 bytes, more than the limit")));
    EXPECT_EQ(RecordIndex({shard_}).size(), 3);
  }
  EXPECT_THAT([&] { RecordIndex index({shard_}, {.max_record_bytes = 0}); },
              ThrowsMessage<UsageError>(HasSubstr("max_record_bytes")));
}

constexpr const char* kText = "0 17\n17 21\n38 16\n";

MemorySource Shard() {
  return {"s", RecordFile().Add("a").Add("hello").Add("").bytes()};
}

TEST(DaliIndexTest, HasALineForEachFrame) {
  const MemorySource shard = Shard();
  EXPECT_EQ(DaliIndexText(ScanFrames(shard, 100), shard.size()), kText);
  EXPECT_EQ(DaliIndexText({}, 0), "");
}

TEST(DaliIndexTest, GivesTheOffsetsBack) {
  const FrameOffsets offsets = {0, 17, 38};
  EXPECT_EQ(ParseDaliIndex(kText, "i", Shard()), offsets);
  EXPECT_EQ(ParseDaliIndex("0 17\r\n17 21\r\n38 16", "i", Shard()), offsets);
  EXPECT_EQ(ParseDaliIndex("", "i", MemorySource("s", "")), FrameOffsets());
}

void ExpectRefused(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { (void)ParseDaliIndex(text, "i", Shard()); },
              ThrowsMessage<DataError>(HasSubstr(why)))
      << text;
}

TEST(DaliIndexTest, NamesTheLineThatDoesNotFit) {
  ExpectRefused("0 17\n17\n", "i: line 2: expected an offset, a space");
  ExpectRefused("0 17\n\n", "i: line 2: expected an offset");
  ExpectRefused("0 17 \n17 21 1\n", "i: line 2: expected an offset");
  ExpectRefused("0 x\n", "i: line 1: expected an offset");
  ExpectRefused("0 99999999999999999999\n", "i: line 1: expected an offset");
  ExpectRefused("0 17\n18 21\n", "line 2: record 1 should be at byte 17");
  ExpectRefused("0 18\n", "line 1: no record of 18 bytes at byte 0 of s");
  ExpectRefused("0 -17\n", "line 1: no record of -17 bytes");
  ExpectRefused("0 17\n17 21\n", "i: ends at byte 38, but s has 54");
}

// The index of a shard that is compressed.
class PackedIndexTest : public RecordIndexTest,
                        public ::testing::WithParamInterface<Compression> {
 protected:
  PackedIndexTest() { WritePacked(packed_, Records().bytes(), GetParam()); }

  static RecordFile Records() { return Shard().Add(std::string(300'000, 'x')); }

  const std::string packed_ = folder_ / "train-00000-of-00001.gz";
};

INSTANTIATE_TEST_SUITE_P(All, PackedIndexTest,
                         ::testing::Values(Compression::kGzip,
                                           Compression::kZlib),
                         [](const auto& test) {
                           return std::string(CompressionName(test.param));
                         });

TEST_P(PackedIndexTest, HasThePlacesInTheUnpackedBytes) {
  const std::string plain = Records().Write(folder_ / "plain");
  const RecordIndex index({packed_, plain});
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
  const RecordIndex built({packed_});
  ASSERT_TRUE(fs::exists(folder_ / ".infeed/train-00000-of-00001.gz.index"));
  // Nothing that could be unpacked again.
  const fs::file_time_type time = fs::last_write_time(packed_);
  WriteFileAtomically(packed_, std::string(fs::file_size(packed_), 'x'));
  fs::last_write_time(packed_, time);
  const RecordIndex cached({packed_});
  EXPECT_EQ(OffsetsOf(cached), OffsetsOf(built));
  EXPECT_EQ(cached.compression(0), GetParam());
  EXPECT_EQ(cached.identity(), built.identity());
}

TEST_P(PackedIndexTest, IsNoIndexForRandomAccess) {
  const RecordIndex built({packed_});
  EXPECT_TRUE(FindFrames(FileSource(packed_)).has_value());
  EXPECT_FALSE(FindIndex(FileSource(packed_)).has_value());
  EXPECT_FALSE(FindIndexHint(FileSource(packed_)).has_value());
}

TEST_P(PackedIndexTest, NeverTrustsWhatCannotBe) {
  const FileSource shard(packed_);
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
  std::string bytes = ReadWholeFile(packed_, 1 << 20);
  WriteFileAtomically(packed_, bytes.substr(0, bytes.size() - 20));
  EXPECT_THAT(
      [&] { RecordIndex index({packed_}); },
      ThrowsMessage<DataError>(AllOf(HasSubstr(packed_ + ": record "),
                                     HasSubstr("stream cannot be unpacked"),
                                     HasSubstr("it is cut short"))));
  EXPECT_FALSE(fs::exists(folder_ / ".infeed/train-00000-of-00001.gz.index"));
}

TEST_P(PackedIndexTest, HoldsTheLimit) {
  EXPECT_THAT(
      [&] { RecordIndex index({packed_}, {.max_record_bytes = 1000}); },
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
