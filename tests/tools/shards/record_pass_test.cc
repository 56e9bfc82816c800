#include "tools/shards/record_pass.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

class RecordPassTest : public ::testing::Test {
 protected:
  // Records, by their shard's number.
  using Seen = std::vector<std::pair<std::size_t, std::string>>;

  const std::string& Path(const std::string& name) {
    paths_.push_back(folder_ / name);
    return paths_.back();
  }

  // Keeps what each thread saw, and finds records "bad..." bad.
  std::vector<ShardPass> Pass(std::size_t threads,
                              const RecordPassOptions& options = {}) {
    std::vector<Seen> by_thread(threads);
    std::vector<ShardPass> passes;
    PassOverRecords(
        paths_, threads,
        [&](std::size_t thread, std::size_t shard, const Record& record) {
          const std::string text(AsText(record.payload));
          if (text == "throw") {
            throw IoError("the visit failed");
          }
          if (text.starts_with("bad")) {
            throw DataError(text);
          }
          by_thread.at(thread).emplace_back(shard, text);
        },
        options, [&](ShardPass pass) { passes.push_back(std::move(pass)); });
    for (const Seen& seen : by_thread) {
      seen_.insert(seen_.end(), seen.begin(), seen.end());
    }
    std::sort(seen_.begin(), seen_.end());
    return passes;
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
  Seen seen_;
};

TEST_F(RecordPassTest, ShowsEachRecordOnceWhateverTheThreads) {
  Seen expected;
  for (const std::size_t shard : {0, 1, 2}) {
    RecordFile file;
    // More than a batch in the second one.
    for (int i = 0; i < (shard == 1 ? 5000 : 3); ++i) {
      file.Add("record " + std::to_string(i));
      expected.emplace_back(shard, "record " + std::to_string(i));
    }
    file.Write(Path(std::to_string(shard)));
  }
  std::sort(expected.begin(), expected.end());
  for (const std::size_t threads : {1, 4}) {
    seen_.clear();
    const std::vector<ShardPass> passes = Pass(threads);
    EXPECT_EQ(seen_, expected);
    ASSERT_THAT(passes, SizeIs(3));
    EXPECT_EQ(passes[0].payload_bytes, 24);
    EXPECT_EQ(passes[1].shard, 1U);
    EXPECT_EQ(passes[1].records, 5000);
    EXPECT_EQ(passes[2].records, 3);
  }
}

TEST_F(RecordPassTest, NotesBadRecordsInTheirOrder) {
  RecordFile()
      .Add("good")
      .Add("bad one")
      .Add("flipped")
      .FlipByte(20 + 23 + 13)
      .Add("bad two")
      .Write(Path("a"));
  const std::vector<ShardPass> passes = Pass(2);
  ASSERT_THAT(passes, SizeIs(1));
  EXPECT_EQ(passes[0].records, 4);
  ASSERT_THAT(passes[0].bad, SizeIs(3));
  EXPECT_EQ(passes[0].bad[0].reason, "bad one");
  EXPECT_EQ(passes[0].bad[0].record, 1);
  EXPECT_EQ(passes[0].bad[0].offset, 20);
  EXPECT_THAT(passes[0].bad[1].reason, HasSubstr("checksum"));
  EXPECT_EQ(passes[0].bad[2].reason, "bad two");
  EXPECT_THAT(seen_, SizeIs(1));
}

TEST_F(RecordPassTest, LooksAtTheFirstRecordsOnly) {
  RecordFile().Add("a").Add("b").Write(Path("0"));
  RecordFile().Add("c").Add("d").Write(Path("1"));
  RecordFile().Add("e").Write(Path("2"));
  const std::vector<ShardPass> passes = Pass(4, {.limit = 3});
  using One = Seen::value_type;
  EXPECT_THAT(seen_, ElementsAre(One(0, "a"), One(0, "b"), One(1, "c")));
  ASSERT_THAT(passes, SizeIs(3));
  EXPECT_EQ(passes[2].records, 0);
  seen_.clear();
  EXPECT_THAT(Pass(2, {.limit = 0}), SizeIs(3));
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(RecordPassTest, CallsBackBeforeAShardIsClosed) {
  RecordFile().Add("a").Write(Path("0"));
  RecordFile().Add("b").Write(Path("1"));
  std::mutex mutex;
  std::vector<std::size_t> read;
  Pass(2, {.read = [&](std::size_t shard, const RecordCursor&) {
         const std::lock_guard lock(mutex);
         read.push_back(shard);
       }});
  EXPECT_THAT(read, ::testing::UnorderedElementsAre(0, 1));
}

TEST_F(RecordPassTest, SaysHowManyRecordsWereLookedAt) {
  RecordFile().Add("a").Add("bad").Write(Path("0"));
  RecordFile().Add("b").FlipByte(13).Write(Path("1"));
  std::atomic<std::int64_t> visited = 0;
  Pass(2, {.visited = [&](std::int64_t records) { visited += records; }});
  EXPECT_EQ(visited, 3);
}

TEST_F(RecordPassTest, PassesOtherErrorsOn) {
  RecordFile().Add("a").Add("throw").Write(Path("0"));
  EXPECT_EQ(MessageOf<IoError>([&] { Pass(3); }), "the visit failed");
  Path("missing");
  EXPECT_NE(MessageOf<IoError>([&] { Pass(3); }), "");
}

}  // namespace
}  // namespace infeed
