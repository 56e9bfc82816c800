#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "records/files/shards.h"
#include "records/store/packed_shard.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/open_files.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

// Records of compressed shards through RecordStore.
namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kShards = 3;
constexpr std::int64_t kPerShard = 40;
constexpr std::int64_t kRecords = kShards * kPerShard;
constexpr std::size_t kPayloadBytes = 20'000;

// Bytes that cannot be packed, of a record's own.
std::string Payload(std::int64_t record) {
  std::minstd_rand draws(static_cast<unsigned>(record) + 1);
  std::string payload(kPayloadBytes + static_cast<std::size_t>(record), 0);
  for (char& byte : payload) {
    byte = static_cast<char>(draws() >> 8);
  }
  return payload;
}

class PackedStoreTest : public ::testing::Test {
 protected:
  PackedStoreTest() {
    std::vector<std::string> paths;
    for (std::int64_t shard = 0; shard < kShards; ++shard) {
      RecordFile file;
      for (std::int64_t i = 0; i < kPerShard; ++i) {
        file.Add(Payload(shard * kPerShard + i));
      }
      paths.push_back(folder_ / ShardName("train", shard, kShards) + ".gz");
      WritePacked(paths.back(), file.bytes());
    }
    index_ = std::make_unique<RecordIndex>(paths);
  }
  static void ExpectReads(const RecordStore& store, std::int64_t record,
                          Access access = Access::kInOrder) {
    std::vector<std::byte> buffer;
    EXPECT_EQ(AsText(store.ReadPayload(record, buffer, access).bytes),
              Payload(record))
        << record;
  }
  [[nodiscard]] const std::string& path(std::size_t shard) const {
    return index_->shards()[shard];
  }

  const TemporaryFolder folder_;
  std::unique_ptr<RecordIndex> index_;
};

TEST_F(PackedStoreTest, BeginsAnewOnlyForWhatLiesBehindAndWasNotKept) {
  std::vector<std::int64_t> forward;
  std::vector<std::int64_t> blocks;  // of ten, in any order
  for (std::int64_t record = 0; record < kRecords; ++record) {
    forward.push_back(record);
    blocks.push_back(record / 10 * 10 + record * 7 % 10);
  }
  constexpr std::int64_t kAnyBytes = 1 << 30;
  struct Case {
    std::int64_t near_records;
    std::int64_t max_passed_bytes;
    std::vector<std::int64_t> records;
    int restarts;
  };
  for (const auto& [near_records, max_passed_bytes, records, restarts] :
       {Case{1, kAnyBytes, forward, 0}, Case{10, kAnyBytes, blocks, 0},
        // Enters a shard in the middle of a block.
        Case{10, kAnyBytes, {27, 20, 29, 21, 26, 30}, 0},
        Case{2, kAnyBytes, {30, 5}, 1},
        // Ends an epoch and begins the next side by side.
        Case{4, kAnyBytes, {33, 0, 34, 1, 35, 2, 36, 3, 37, 4, 38}, 1},
        // Keeps no more than it may.
        Case{40, 5 * (kPayloadBytes + 100), {20, 19, 18, 17, 16, 15}, 0},
        Case{40, 5 * (kPayloadBytes + 100), {20, 19, 18, 17, 16, 15, 14}, 1}}) {
    const RecordStore store(*index_,
                            {.packed = {.near_records = near_records,
                                        .max_passed_bytes = max_passed_bytes}});
    for (const std::int64_t record : records) {
      ExpectReads(store, record);
    }
    EXPECT_EQ(store.packed_restarts(), restarts);
  }
}

TEST_F(PackedStoreTest, ARecordApartDisturbsNobody) {
  const RecordStore store(*index_, {.packed = {.near_records = 4}});
  for (std::int64_t record = 0; record < kPerShard; ++record) {
    ExpectReads(store, record);
    ExpectReads(store, record * 17 % kRecords, Access::kApart);
  }
  EXPECT_EQ(store.packed_restarts(), 0);
}

TEST_F(PackedStoreTest, LeavesNoMoreShardsOpenThanItMay) {
  const RecordStore store(
      *index_, {.max_open_shards = 1, .packed = {.max_open_shards = 1}});
  for (const std::int64_t record : {0, 40, 80, 1, 41, 81}) {
    ExpectReads(store, record);
    EXPECT_LE(CountOpenFiles(folder_.path()), 2U);
  }
  for (std::int64_t record = 0; record < kRecords; ++record) {
    ExpectReads(store, record);
  }
  EXPECT_LE(CountOpenFiles(folder_.path()), 1U)
      << "the cursors have read their shards";
}

TEST_F(PackedStoreTest, ReadsManyAtOnce) {
  const RecordStore store(*index_);
  std::vector<std::string> seen(4);
  store.ReadMany(
      std::vector<std::int64_t>{90, 7, 3, 50},
      [&](std::size_t place, std::span<const std::byte> payload) {
        seen[place] = AsText(payload);
      },
      [](std::size_t, const DataError& error) { FAIL() << error.what(); });
  EXPECT_EQ(seen, (std::vector<std::string>{Payload(90), Payload(7), Payload(3),
                                            Payload(50)}));
}

TEST_F(PackedStoreTest, ReadsFromManyThreads) {
  const RecordStore store(*index_, {.packed = {.near_records = 16}});
  std::vector<std::jthread> threads;
  for (std::int64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::int64_t i = first; i < 2 * kRecords; i += 4) {
        ExpectReads(store, i % kRecords);
      }
    });
  }
}

// The stream of the middle shard is broken.
class BrokenStreamTest : public PackedStoreTest {
 protected:
  BrokenStreamTest() { BreakInTheMiddle(path(1)); }

  static std::string ErrorOf(const RecordStore& store, std::int64_t record,
                             Access access = Access::kInOrder) {
    std::vector<std::byte> buffer;
    return MessageOf<DataError>(
        [&] { (void)store.ReadPayload(record, buffer, access); });
  }
};

TEST_F(BrokenStreamTest, LosesTheRecordsBehindAndNoOther) {
  const RecordStore store(*index_);
  std::vector<std::string> errors;
  for (std::int64_t record = 0; record < kRecords; ++record) {
    errors.push_back(ErrorOf(store, record));
  }
  const auto is_good = [](const std::string& error) { return error.empty(); };
  const auto first = std::find_if_not(errors.begin(), errors.end(), is_good);
  const auto behind = errors.begin() + 2 * kPerShard;
  ASSERT_GT(first - errors.begin(), kPerShard + 5);
  ASSERT_LT(first - errors.begin(), 2 * kPerShard - 5);
  EXPECT_TRUE(std::none_of(first, behind, is_good));
  EXPECT_TRUE(std::all_of(behind, errors.end(), is_good));
}

TEST_F(BrokenStreamTest, NamesTheRecordAndSaysWhatIsLost) {
  const RecordStore store(*index_);
  for (const Access access : {Access::kInOrder, Access::kApart}) {
    EXPECT_THAT(
        ErrorOf(store, 2 * kPerShard - 1, access),
        AllOf(HasSubstr(path(1) + ": record 39 at byte "),
              HasSubstr("of the file"), HasSubstr("; the records from "),
              HasSubstr(" on are lost")));
  }
}

TEST_F(BrokenStreamTest, LooksForTheEndOnce) {
  const RecordStore store(*index_);
  const std::string last = ErrorOf(store, 2 * kPerShard - 1);
  fs::remove(path(1));  // Whoever opened it again would get an IoError.
  const RecordStore closed(*index_, {.max_open_shards = 1});
  for (std::int64_t record = 2 * kPerShard - 5; record < 2 * kPerShard;
       ++record) {
    EXPECT_NE(ErrorOf(store, record), "");
    EXPECT_NE(ErrorOf(store, record, Access::kApart), "");
    EXPECT_THROW((void)ErrorOf(closed, record), IoError);
  }
}

TEST_F(PackedStoreTest, LosesWhatAFileThatWasCutDoesNotHold) {
  const RecordStore store(*index_);
  fs::resize_file(path(2), fs::file_size(path(2)) / 2);
  ExpectReads(store, 2 * kPerShard);
  std::vector<std::byte> buffer;
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([&] { (void)store.Read(kRecords - 1, buffer); },
                ThrowsMessage<DataError>(HasSubstr("it is cut short")));
  }
}

TEST_F(PackedStoreTest, NamesAShardThatIsGone) {
  const RecordStore store(*index_);
  fs::remove(path(0));
  std::vector<std::byte> buffer;
  for (const Access access : {Access::kInOrder, Access::kApart}) {
    EXPECT_THAT([&] { (void)store.ReadPayload(3, buffer, access); },
                ThrowsMessage<IoError>(HasSubstr(path(0) + ": cannot open")));
  }
}

std::string TextOf(const std::optional<std::vector<std::byte>>& frame) {
  return frame ? AsText(*frame) : "gone";
}

TEST(PassedRecordsTest, GivesARecordOnceAndDropsTheOldest) {
  PassedRecords passed(10);
  passed.Keep(7, AsBytes("abc"));
  EXPECT_EQ(passed.bytes(), 3);
  EXPECT_EQ(TextOf(passed.Take(8)), "gone");
  EXPECT_EQ(TextOf(passed.Take(7)), "abc");
  EXPECT_EQ(TextOf(passed.Take(7)), "gone");
  EXPECT_EQ(passed.bytes(), 0);
  for (std::int64_t record = 0; record < 5; ++record) {
    passed.Keep(record, AsBytes("abc"));
    EXPECT_LE(passed.bytes(), 10);
  }
  EXPECT_EQ(TextOf(passed.Take(1)), "gone");
  passed.Keep(9, AsBytes("0123456789a"));  // over the limit alone
  EXPECT_EQ(TextOf(passed.Take(9)), "gone");
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
  EXPECT_EQ(TextOf(passed.Take(4)), "abc");
}

// A record that was taken and came again is as old as its second coming.
TEST(PassedRecordsTest, CountsAgeFromTheLastComing) {
  PassedRecords passed(9);
  passed.Keep(1, AsBytes("abc"));
  passed.Keep(2, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
  passed.Keep(3, AsBytes("abc"));
  passed.Keep(2, AsBytes("abc"));
  passed.Keep(4, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(1)), "gone");
  passed.Keep(5, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(3)), "gone");
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
}

}  // namespace
}  // namespace infeed
