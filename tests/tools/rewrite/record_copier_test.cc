#include "tools/rewrite/record_copier.h"

#include <atomic>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/order/sample_order.h"
#include "records/store/record_index.h"
#include "tests/support/matchers.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Three shards of 50 records, of 0 and of 30, which a copy shuffles.
class RecordCopierTest : public ::testing::Test {
 protected:
  RecordCopierTest() {
    for (int shard = 0; shard < 3; ++shard) {
      RecordFile file;
      for (int i = 0; i < (shard == 0 ? 50 : shard == 1 ? 0 : 30); ++i) {
        records_.push_back(std::to_string(records_.size()) +
                           std::string(records_.size() * 37 % 1000, '.'));
        file.Add(records_.back());
      }
      paths_.push_back(file.Write(folder_ / std::to_string(shard)));
    }
  }

  // The records of the new shards, one after the other.
  std::vector<std::string> Copy(const CopyOptions& options) {
    const RecordIndex index(paths_, {.use_cache = false});
    const SampleOrder order(80, Shuffle::kGlobal, 3);
    const std::vector<NewShard> shards = {{"a", folder_ / "a", {0, 33}},
                                          {"b", folder_ / "b", {33, 1}},
                                          {"c", folder_ / "c", {34, 46}}};
    blocks_ = 0;
    BadRecords bad(false);
    (void)CopyRecords(
        index, [&](std::int64_t i) { return order.Epoch(0).RecordAt(i); },
        shards, options, bad, [&](std::int64_t, std::int64_t) { ++blocks_; });
    std::vector<std::string> copied;
    for (const NewShard& shard : shards) {
      const std::vector<std::string> more = ReadPayloads(shard.path);
      copied.insert(copied.end(), more.begin(), more.end());
    }
    return copied;
  }

  // The expected copy.
  [[nodiscard]] std::vector<std::string> Shuffled() const {
    const SampleOrder order(80, Shuffle::kGlobal, 3);
    std::vector<std::string> shuffled;
    for (std::int64_t i = 0; i < 80; ++i) {
      shuffled.push_back(
          records_[static_cast<std::size_t>(order.Epoch(0).RecordAt(i))]);
    }
    return shuffled;
  }

  // The least that is enough, as the error for less says it.
  [[nodiscard]] std::int64_t LeastMemory() const {
    const std::string message = MessageOf<UsageError>([&] {
      (void)PlanCopyMemory(RecordIndex(paths_, {.use_cache = false}), 3,
                           {.memory_limit = 1});
    });
    EXPECT_THAT(message,
                AllOf(HasSubstr("--memory_limit 1 "), HasSubstr(" or more")));
    return std::stoll(message.substr(message.rfind("give ") + 5));
  }

  const TemporaryFolder folder_;
  std::vector<std::string> paths_;
  std::vector<std::string> records_;
  std::atomic<int> blocks_ = 0;
};

TEST_F(RecordCopierTest, WritesTheSameWithAnyThreadsAndMemory) {
  const std::int64_t least = LeastMemory();
  for (const CopyOptions& options :
       {CopyOptions{.threads = 1, .memory_limit = least},
        CopyOptions{.threads = 1, .memory_limit = least + 3000},
        CopyOptions{.threads = 2, .memory_limit = 2 * least},
        CopyOptions{.threads = 7}}) {
    EXPECT_EQ(Copy(options), Shuffled());
  }
}

TEST_F(RecordCopierTest, TakesNoMoreMemoryThanItMay) {
  const RecordIndex index(paths_, {.use_cache = false});
  const std::int64_t least = LeastMemory();
  EXPECT_THROW((void)PlanCopyMemory(index, 3, {.memory_limit = least - 1}),
               UsageError);
  EXPECT_EQ(
      PlanCopyMemory(index, 3, {.threads = 4, .memory_limit = least}).threads,
      1);
  EXPECT_EQ(PlanCopyMemory(index, 3, {.threads = 4}).threads, 3);
  // Little memory makes many blocks, much makes one for each shard.
  (void)Copy({.threads = 1, .memory_limit = least});
  EXPECT_GT(blocks_, 20);
  (void)Copy({});
  EXPECT_EQ(blocks_, 3);
}

}  // namespace
}  // namespace infeed
