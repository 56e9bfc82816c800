#include "pipeline/reading/found_seek_indexes.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/reading/sample_seek_index.h"
#include "records/example/imagenet_example.h"
#include "tests/support/bytes.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

constexpr std::int64_t kMuch = 1 << 20;

// Two shards of two records.
class FoundSeekIndexesTest : public ::testing::Test {
 protected:
  FoundSeekIndexesTest() {
    for (const char* name : {"train-00000-of-00002", "train-00001-of-00002"}) {
      const std::string payload(100, 'p');
      RecordFile().Add(payload).Add(payload).Write(folder_ / name);
      shards_.push_back(folder_ / name);
    }
    index_.emplace(shards_);
    store_.emplace(*index_);
  }

  [[nodiscard]] FoundSeekIndexes Make(std::int64_t limit = kMuch) {
    return {*index_, *store_, limit, kImageKey};
  }
  static std::string Find(const FoundSeekIndexes& found, std::int64_t record) {
    std::vector<std::byte> buffer;
    return AsText(found.Find(record, buffer));
  }
  // From the files, as a later run reads them.
  [[nodiscard]] std::string Read(std::int64_t record) const {
    std::vector<std::byte> buffer;
    return AsText(SeekStore(*index_).Read(record, buffer));
  }
  [[nodiscard]] bool HasFile(int shard) const {
    return std::filesystem::exists(folder_ / ".infeed/train-0000" +
                                   std::to_string(shard) + "-of-00002.seek");
  }

  const TemporaryFolder folder_;
  std::vector<std::string> shards_;
  std::optional<RecordIndex> index_;
  std::optional<SeekStore> store_;
};

TEST_F(FoundSeekIndexesTest, GivesBackWhatIsKeptAndLeavesItInFiles) {
  {
    FoundSeekIndexes found = Make();
    EXPECT_EQ(Find(found, 2), "");
    found.Keep(2, {.sealed = "two", .new_rows = 4});
    EXPECT_EQ(Find(found, 2), "two");
    EXPECT_EQ(Find(found, 3), "");
  }
  EXPECT_FALSE(HasFile(0));
  EXPECT_EQ(Read(2), "two");
  EXPECT_EQ(Read(3), "");
}

TEST_F(FoundSeekIndexesTest, KeepsTheLongerOfTwo) {
  FoundSeekIndexes found = Make();
  found.Keep(1, {.sealed = "longer", .new_rows = 4});
  found.Keep(1, {.sealed = "short", .new_rows = 1});
  EXPECT_EQ(Find(found, 1), "longer");
  found.Keep(1, {.sealed = "anew", .new_rows = 1, .replaces = true});
  EXPECT_EQ(Find(found, 1), "anew");
}

TEST_F(FoundSeekIndexesTest, ForgetsWhatIsInFiles) {
  FoundSeekIndexes found = Make();
  found.Keep(0, {.sealed = "one", .new_rows = 4});
  found.Save();
  while (!Find(found, 0).empty()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(Read(0), "one");
  std::vector<std::byte> buffer;
  EXPECT_EQ(AsText(store_->Read(0, buffer)), "one");
}

TEST_F(FoundSeekIndexesTest, DoesNotWriteAFileAgainForLittle) {
  {
    FoundSeekIndexes found = Make();
    found.Keep(0, {.sealed = "one", .new_rows = 1000});
    found.Save();
    while (!Find(found, 0).empty()) {
      std::this_thread::yield();
    }
    found.Keep(1, {.sealed = "two", .new_rows = 1});
  }
  EXPECT_EQ(Read(0), "one");
  EXPECT_EQ(Read(1), "");
}

TEST_F(FoundSeekIndexesTest, KeepsNoMoreThanItsLimit) {
  FoundSeekIndexes found = Make(200);
  found.Keep(0, {.sealed = std::string(500, 'x'), .new_rows = 4});
  EXPECT_EQ(Find(found, 0), "");
}

TEST_F(FoundSeekIndexesTest, KeepsInMemoryWhatCannotBeWritten) {
  std::filesystem::remove_all(folder_ / ".infeed");
  std::ofstream(folder_ / ".infeed").put('x');
  const EnvironmentVariable cache("XDG_CACHE_HOME", "/dev/null/none");
  FoundSeekIndexes found = Make();
  found.Keep(0, {.sealed = "one", .new_rows = 4});
  found.Save();
  while (found.write_error().empty()) {
    std::this_thread::yield();
  }
  EXPECT_THAT(found.write_error(), HasSubstr(".infeed"));
  EXPECT_EQ(Find(found, 0), "one");
}

TEST(SeekIndexCountsTest, KeepsTheFirstRefusedInTheStreamsOrder) {
  SeekIndexCounts counts;
  EXPECT_EQ(counts.Read().first_refused, "");
  counts.Refuse({.seed = 0, .epoch = 1, .position = 2}, DataError("later"));
  counts.Refuse({.seed = 0, .epoch = 0, .position = 9}, DataError("first"));
  counts.Refuse({.seed = 0, .epoch = 0, .position = 9},
                DataError("substitute"));
  EXPECT_EQ(counts.Read().first_refused, "first");
  EXPECT_EQ(counts.Read().refused, 3);
}

}  // namespace
}  // namespace infeed
