#include "records/store/record_store.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/files/shards.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Ten shards of three records; record i is i times the letter of its shard.
class RecordStoreTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kShards = 10;
  static constexpr std::int64_t kPerShard = 3;

  RecordStoreTest() {
    for (std::int64_t shard = 0; shard < kShards; ++shard) {
      RecordFile file;
      for (std::int64_t i = 0; i < kPerShard; ++i) {
        file.Add(Payload(shard * kPerShard + i));
      }
      paths_.push_back(folder_ / ShardName("train", shard, kShards));
      file.Write(paths_.back());
    }
  }

  static std::string Payload(std::int64_t record) {
    return std::string(static_cast<std::size_t>(record),
                       static_cast<char>('a' + record / kPerShard));
  }
  static std::string Read(const RecordStore& store, std::int64_t record) {
    std::vector<std::byte> buffer;
    return AsText(store.Read(record, buffer));
  }

  // The error of reading a record; "" if there is none.
  static std::string Fault(const RecordStore& store, std::int64_t record) {
    return MessageOf<DataError>([&] { (void)Read(store, record); });
  }

  // A shard of two records that take several pages each.
  [[nodiscard]] std::string WriteLong() const {
    return RecordFile()
        .Add(std::string(9000, 'a'))
        .Add(std::string(9000, 'b'))
        .Write(folder_ / "long");
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(RecordStoreTest, GivesThePayloadsChecksumWhereItVerifiedIt) {
  const RecordIndex index(paths_);
  std::vector<std::byte> buffer;
  EXPECT_EQ(RecordStore(index).ReadPayload(5, buffer).crc32c,
            Crc32c(AsBytes(Payload(5))));
  const RecordStore quick(index, {.verify_checksums = false});
  EXPECT_EQ(quick.ReadPayload(5, buffer).crc32c, std::nullopt);
  EXPECT_EQ(quick.ReadPayload(5, buffer).stored_crc,
            Crc32c(AsBytes(Payload(5))));
  EXPECT_EQ(AsText(quick.ReadPayload(5, buffer).bytes), Payload(5));
}

TEST_F(RecordStoreTest, LeavesAPayloadToBeVerifiedLater) {
  const RecordIndex index(paths_);
  const std::uint32_t crc = Crc32c(AsBytes(Payload(5)));
  for (const bool map_files : {false, true}) {
    const RecordStore store(index, {.map_files = map_files});
    std::vector<std::byte> buffer;
    const auto read = [&] {
      return store.ReadPayload(5, buffer, Access::kInOrder,
                               Verification::kLater);
    };
    RecordPayload payload = read();
    EXPECT_EQ(payload.crc32c, std::nullopt);
    EXPECT_EQ(payload.unverified_crc32c, crc);
    store.Verify(5, payload);
    EXPECT_EQ(payload.crc32c, crc);
    EXPECT_EQ(payload.unverified_crc32c, std::nullopt);
    store.Verify(5, payload, crc + 1);  // It is verified already.

    payload = read();
    store.Verify(5, payload, crc);
    EXPECT_EQ(payload.crc32c, crc);

    EXPECT_THAT(
        [&] {
          RecordPayload damaged = read();
          store.Verify(5, damaged, crc + 1);
        },
        ThrowsMessage<DataError>(
            AllOf(HasSubstr(index.shards()[1]), HasSubstr("record 2 at"),
                  HasSubstr("the payload's checksum does not match"))));
  }
  const RecordStore quick(index, {.verify_checksums = false});
  std::vector<std::byte> buffer;
  EXPECT_EQ(quick.ReadPayload(5, buffer, Access::kInOrder, Verification::kLater)
                .unverified_crc32c,
            std::nullopt);
}

TEST_F(RecordStoreTest, ReadsAnyRecordInAnyOrder) {
  const RecordIndex index(paths_);
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const std::int64_t record = i * 7 % index.size();
    EXPECT_EQ(AsText(store.Read(record, buffer)), Payload(record));
  }
}

TEST_F(RecordStoreTest, FindsRecordsInMappedFiles) {
  const RecordIndex index(paths_);
  const RecordStore store(index, {.map_files = true});
  std::vector<std::byte> buffer;
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const std::int64_t record = i * 7 % index.size();
    const RecordPayload payload = store.ReadPayload(record, buffer);
    EXPECT_EQ(AsText(payload.bytes), Payload(record));
    EXPECT_EQ(payload.crc32c, Crc32c(AsBytes(Payload(record))));
    EXPECT_NE(payload.mapped, nullptr);
  }
  EXPECT_TRUE(buffer.empty());
}

TEST_F(RecordStoreTest, AMappedFileThatLosesBytesIsRead) {
  const std::string path = WriteLong();
  const RecordIndex index({path}, {.use_cache = false});
  const RecordStore store(index, {.map_files = true});
  std::vector<std::byte> buffer;
  const RecordPayload second = store.ReadPayload(1, buffer);
  EXPECT_FALSE(second.mapped->is_damaged());
  fs::resize_file(path, 9016);
  EXPECT_EQ(second.bytes.back(), std::byte{0});
  EXPECT_TRUE(second.mapped->is_damaged());
  const RecordPayload first = store.ReadPayload(0, buffer);
  EXPECT_EQ(AsText(first.bytes), std::string(9000, 'a'));
  EXPECT_EQ(first.mapped, nullptr);
  EXPECT_THAT(Fault(store, 1), HasSubstr("truncated record"));
}

TEST_F(RecordStoreTest, ReadsManyAtOnceEachForItsPlace) {
  const RecordIndex index(paths_);
  const RecordStore store(index);
  std::vector<std::int64_t> wanted;
  for (std::int64_t i = 0; i < index.size(); ++i) {
    wanted.push_back(i * 7 % index.size());
  }
  wanted.push_back(wanted.front());
  std::vector<std::string> seen(wanted.size());
  store.ReadMany(
      wanted,
      [&](std::size_t place, std::span<const std::byte> payload) {
        seen[place] = AsText(payload);
      },
      [](std::size_t, const DataError& error) { FAIL() << error.what(); });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(seen[i], Payload(wanted[i]));
  }
}

TEST_F(RecordStoreTest, LosesNothingBesideABadRecord) {
  RecordFile()
      .Add("a")
      .Add("b")
      .FlipByte(30)
      .Add("c")
      .Add("d")
      .Truncate(1)
      .Write(paths_[0]);
  const RecordIndex whole(
      {RecordFile().Add("a").Add("b").Add("c").Add("d").Write(paths_[1])});
  fs::copy_file(paths_[0], paths_[1], fs::copy_options::overwrite_existing);
  const RecordStore store(whole);
  std::vector<std::string> seen(4);
  store.ReadMany(
      std::vector<std::int64_t>{0, 1, 2, 3},
      [&](std::size_t place, std::span<const std::byte> payload) {
        seen[place] = AsText(payload);
      },
      [&](std::size_t place, const DataError& error) {
        seen[place] = error.what();
      });
  EXPECT_EQ(seen[0], "a");
  EXPECT_THAT(seen[1], HasSubstr("record 1 at byte 17: corrupted record"));
  EXPECT_EQ(seen[2], "c");
  EXPECT_THAT(seen[3], HasSubstr("record 3 at byte 51: truncated record"));
}

TEST_F(RecordStoreTest, ReadsFromManyThreads) {
  const RecordIndex index(paths_);
  const RecordStore store(index, {.max_open_shards = 2});
  std::vector<std::jthread> threads;
  for (std::int64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      std::vector<std::byte> buffer;
      for (std::int64_t i = first; i < index.size() * 5; ++i) {
        const std::int64_t record = i * 11 % index.size();
        EXPECT_EQ(AsText(store.Read(record, buffer)), Payload(record));
      }
    });
  }
}

TEST_F(RecordStoreTest, NamesFileRecordAndOffsetOfAWrongChecksum) {
  const RecordIndex index(paths_);
  RecordFile().Add("bbb").Add("bbbb").Add("bbbbb").FlipByte(19 + 12).Write(
      paths_[1]);
  const RecordStore store(index);
  EXPECT_EQ(Read(store, 3), "bbb");
  EXPECT_EQ(Read(store, 5), "bbbbb");
  EXPECT_EQ(store.OriginOf(4).path, paths_[1]);
  EXPECT_EQ(store.OriginOf(4).record, 1);
  EXPECT_EQ(store.OriginOf(4).offset, 19);
  EXPECT_THAT(Fault(store, 4),
              HasSubstr(paths_[1] + ": record 1 at byte 19: corrupted "
                                    "record: the payload's checksum"));
  const RecordStore trusting(index, {.verify_checksums = false});
  EXPECT_NE(Read(trusting, 4), "bbbb");
  const RecordStore mapping(index, {.map_files = true});
  EXPECT_EQ(Read(mapping, 3), "bbb");
  EXPECT_THAT(Fault(mapping, 4),
              HasSubstr(paths_[1] + ": record 1 at byte 19: corrupted record"));
}

TEST_F(RecordStoreTest, NoticesAFileThatChanged) {
  const RecordIndex index(paths_);
  RecordFile().Add("bb").Add("bbbbb").Add("bbbbb").Write(paths_[1]);
  RecordFile().Add("cccccc").Truncate(3).Write(paths_[2]);
  RecordFile().Write(paths_[3]);
  RecordFile().AddRaw(std::string(200, 'x')).Write(paths_[4]);
  const RecordStore store(index);
  EXPECT_THAT(Fault(store, 3),
              HasSubstr("the record has 2 bytes, the index says 3; the file "
                        "changed after it was indexed"));
  EXPECT_THAT(Fault(store, 6), HasSubstr("truncated record"));
  EXPECT_THAT(Fault(store, 10), HasSubstr("truncated record"));
  EXPECT_THAT(Fault(store, 12), HasSubstr("length's checksum"));
}

}  // namespace
}  // namespace infeed
