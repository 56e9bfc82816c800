// Failures while shards are read: reads that are interrupted, short or refused,
// files that shrink or vanish, too many open files. This program has its own
// pread() and posix_fadvise().

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "records/store/record_store.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"

namespace {

// The faults of the system, set and read from any thread.
struct Faults {
  std::atomic<bool> interrupts = false;  // every second read
  std::atomic<std::size_t> at_most = 0;  // bytes of a read; 0: all
  std::atomic<ino_t> bad_file = 0;       // EIO where a read touches these
  std::atomic<off_t> bad_begin = 0;      // bytes of it
  std::atomic<off_t> bad_end = 0;
  std::atomic<unsigned> reads = 0;
  std::mutex mutex;
  std::vector<std::pair<off_t, off_t>> advice;  // offset and bytes

  void Clear() {
    interrupts = false;
    at_most = 0;
    bad_file = 0;
    advice.clear();
  }
};
Faults faults;

bool TouchesBadBytes(int descriptor, off_t offset, std::size_t count) {
  if (faults.bad_file == 0) {
    return false;
  }
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 &&
         status.st_ino == faults.bad_file && offset < faults.bad_end &&
         offset + static_cast<off_t>(count) > faults.bad_begin;
}

}  // namespace

extern "C" ssize_t pread(int descriptor, void* bytes, std::size_t count,
                         off_t offset) {
  if (faults.interrupts && faults.reads++ % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  if (TouchesBadBytes(descriptor, offset, count)) {
    errno = EIO;
    return -1;
  }
  if (faults.at_most > 0) {
    count = std::min(count, faults.at_most.load());
  }
  return ::syscall(SYS_pread64, descriptor, bytes, count, offset);
}

extern "C" int posix_fadvise(int /*descriptor*/, off_t offset, off_t bytes,
                             int advice) {
  if (advice == POSIX_FADV_WILLNEED) {
    const std::lock_guard lock(faults.mutex);
    faults.advice.emplace_back(offset, bytes);
  }
  return 0;
}

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr int kRecords = 20;
constexpr std::int64_t kBad = 5;

InputOptions OptionsFor(OnBadRecord policy) {
  InputOptions options = {
      .batch_size = 4, .preprocess = {.image_size = 16}, .map_files = false};
  options.training = false;
  options.shuffle = Shuffle::kNone;
  options.on_bad_record = policy;
  options.threads = 2;
  options.label_offset = 1;  // Labels are not looked at first.
  return options;
}

class ReadFaultsTest : public ::testing::Test {
 protected:
  ~ReadFaultsTest() override { faults.Clear(); }

  // From now on a record's payload cannot be read.
  static void MakeUnreadable(const RecordIndex& index, std::int64_t record) {
    const RecordLocation place = index.at(record);
    MakeUnreadable(index.shards()[static_cast<std::size_t>(place.shard)],
                   place.offset + 20, place.offset + 30);
  }
  static void MakeUnreadable(const std::string& path, off_t begin, off_t end) {
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    faults.bad_begin = begin;
    faults.bad_end = end;
    faults.bad_file = status.st_ino;
  }
  [[nodiscard]] const RecordIndex& index() const { return shards_.index(); }
  [[nodiscard]] const std::string& path(std::size_t shard) const {
    return index().shards()[shard];
  }

  const TestShards shards_{TestPayloads(kRecords)};
};

TEST_F(ReadFaultsTest, InterruptsAndShortReadsChangeNothing) {
  const InputOptions options = OptionsFor(OnBadRecord::kFail);
  const std::vector<BatchCopy> expected = Stream(index(), options, 10);
  faults.interrupts = true;
  EXPECT_EQ(Stream(index(), options, 10), expected);
  faults.at_most = 100;
  EXPECT_EQ(Stream(index(), options, 10), expected);
  EXPECT_GT(faults.reads, 100U);
}

TEST_F(ReadFaultsTest, BytesThatCannotBeReadAreABadRecord) {
  MakeUnreadable(index(), kBad);
  InputPipeline pipeline(index(), OptionsFor(OnBadRecord::kSkip));
  const std::vector<BatchCopy> skipped = TakeBatches(pipeline, 100);
  ASSERT_EQ(skipped.size(), 5U);
  EXPECT_THAT(skipped[1].labels, ElementsAre(4, -1, 6, 7));
  EXPECT_THAT(pipeline.stats().first_bad_record,
              AllOf(HasSubstr(path(0) + ": record 5 at byte "),
                    HasSubstr("cannot read: Input/output error")));
  const std::vector<BatchCopy> replaced =
      Stream(index(), OptionsFor(OnBadRecord::kReplace), 100);
  ASSERT_EQ(replaced.size(), 5U);
  EXPECT_THAT(replaced[1].weights, Each(1));
  EXPECT_NE(replaced[1].labels[1], kBad);
  InputPipeline failing(index(), OptionsFor(OnBadRecord::kFail));
  EXPECT_EQ(TakeBatches(failing, 1).size(), 1U);
  EXPECT_THAT([&] { (void)failing.Next(); },
              ThrowsMessage<DataError>(HasSubstr("record 5 at byte ")));
}

TEST_F(ReadFaultsTest, AReadOfManyLosesOneAlone) {
  MakeUnreadable(index(), 1);
  const RecordStore store(index());
  std::vector<std::string> seen(3);
  store.ReadMany(
      std::vector<std::int64_t>{0, 1, 2},
      [&](std::size_t place, std::span<const std::byte>) {
        seen[place] = "good";
      },
      [&](std::size_t place, const DataError& error) {
        seen[place] = error.what();
      });
  EXPECT_EQ(seen[0], "good");
  EXPECT_THAT(seen[1], HasSubstr("Input/output error"));
  EXPECT_EQ(seen[2], "good");
}

TEST_F(ReadFaultsTest, ACompressedShardLosesTheRest) {
  const TemporaryFolder folder;
  RecordFile file;
  const std::string noise = ReadWholeFile(path(0), 1 << 20);
  for (int i = 0; i < 200; ++i) {
    file.Add(noise.substr(0, 10'000));
  }
  const RecordIndex packed({WritePacked(folder / "f.gz", file.bytes())});
  const auto size = static_cast<off_t>(fs::file_size(folder / "f.gz"));
  MakeUnreadable(folder / "f.gz", size - 10, size);
  const RecordStore store(packed, {.packed = {.near_records = 0}});
  std::vector<std::byte> buffer;
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([&] { (void)store.Read(199, buffer); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("record 199 at byte "),
                                               HasSubstr("Input/output error"),
                                               HasSubstr(" on are lost"))));
    faults.bad_file = 0;  // It is not tried again.
  }
}

TEST_F(ReadFaultsTest, AFileThatShrinksLosesWhatItHeld) {
  for (const OnBadRecord policy : {OnBadRecord::kSkip, OnBadRecord::kReplace}) {
    const TestShards shards(TestPayloads(kRecords));
    InputPipeline pipeline(shards.index(), OptionsFor(policy));
    ASSERT_NE(pipeline.Next(), nullptr);
    const std::string& last = shards.index().shards()[1];
    fs::resize_file(last, fs::file_size(last) - 100);
    const std::vector<BatchCopy> batches = TakeBatches(pipeline, 100);
    ASSERT_EQ(batches.size(), 4U);
    EXPECT_NE(batches[3].labels[3], kRecords - 1);
    EXPECT_EQ(batches[3].labels[2], kRecords - 2);
    EXPECT_EQ(pipeline.stats().bad_records, 1);
  }
}

TEST_F(ReadFaultsTest, AFileThatShrinksIsADataErrorOtherwise) {
  InputPipeline pipeline(index(), OptionsFor(OnBadRecord::kFail));
  ASSERT_NE(pipeline.Next(), nullptr);
  fs::resize_file(path(1), 0);
  EXPECT_THAT(
      [&] {
        while (pipeline.Next() != nullptr) {
        }
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr(path(1) + ": record "),
                                     HasSubstr("truncated record"))));
}

TEST_F(ReadFaultsTest, AFileThatVanishesWhileItIsOpenIsReadOn) {
  const RecordStore store(index());
  std::vector<std::byte> buffer;
  EXPECT_FALSE(store.Read(0, buffer).empty());
  fs::remove(path(0));
  for (std::int64_t record = 0; record < kRecords / 2; ++record) {
    EXPECT_EQ(AsText(store.Read(record, buffer)),
              TestPayload(static_cast<int>(record)));
  }
}

TEST_F(ReadFaultsTest, AMissingShardEndsTheStreamWithItsName) {
  for (const OnBadRecord policy :
       {OnBadRecord::kFail, OnBadRecord::kReplace, OnBadRecord::kSkip}) {
    const TestShards shards(TestPayloads(kRecords));
    const std::string gone = shards.index().shards()[1];
    fs::remove(gone);
    InputPipeline pipeline(shards.index(), OptionsFor(policy));
    EXPECT_EQ(TakeBatches(pipeline, 2).size(), 2U);
    EXPECT_THAT([&] { (void)pipeline.Next(); },
                ThrowsMessage<IoError>(HasSubstr(gone + ": cannot open")));
  }
}

// Lets the process open `more` files beside those that are open.
class OpenFileLimit {
 public:
  explicit OpenFileLimit(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    const int next = ::dup(0);  // The lowest that is free.
    ::close(next);
    limit.rlim_cur = static_cast<rlim_t>(next + more);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OpenFileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFileLimit(const OpenFileLimit&) = delete;
  OpenFileLimit& operator=(const OpenFileLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(ReadFaultsTest, ShardsMakeRoomWhereNoMoreFilesMayBeOpen) {
  const TestShards shards(TestPayloads(kRecords), kRecords);
  const RecordStore store(shards.index());
  std::vector<std::byte> buffer;
  const OpenFileLimit limit(3);
  for (int time = 0; time < 2; ++time) {
    for (std::int64_t record = 0; record < kRecords; ++record) {
      EXPECT_EQ(AsText(store.Read(record, buffer)),
                TestPayload(static_cast<int>(record)));
    }
  }
}

TEST_F(ReadFaultsTest, TheMessageAdvisesWhenNoFileCanBeOpened) {
  const RecordStore store(index());
  std::vector<std::byte> buffer;
  const OpenFileLimit limit(0);
  EXPECT_THAT([&] { (void)store.Read(0, buffer); },
              ThrowsMessage<IoError>(HasSubstr("ulimit -n")));
}

TEST_F(ReadFaultsTest, NeighboursAreAnnouncedTogether) {
  const RecordStore store(index());
  store.WillRead(std::vector<std::int64_t>{2, 11, 0, 1});
  const RecordLocation behind = index().at(3);
  const RecordLocation other = index().at(11);
  EXPECT_THAT(faults.advice,
              ElementsAre(Pair(0, behind.offset),
                          Pair(other.offset, other.length + 16)));
}

TEST_F(ReadFaultsTest, TheStreamAnnouncesAllItReads) {
  EXPECT_EQ(Stream(index(), OptionsFor(OnBadRecord::kFail), 10).size(), 5U);
  off_t bytes = 0;
  for (const auto& [offset, count] : faults.advice) {
    bytes += count;
  }
  EXPECT_GE(bytes, static_cast<off_t>(fs::file_size(path(0)) +
                                      fs::file_size(path(1))));
}

}  // namespace
}  // namespace infeed
