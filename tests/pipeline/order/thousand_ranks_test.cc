// A thousand ranks share ImageNet: the order of all of them, each by itself, as
// on a thousand machines that know nothing of each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/made_index.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kRanks = 1000;
// Sanitizers, and no optimisation, make the arithmetic many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(NDEBUG)
constexpr std::int64_t kRecords = 21'167;
constexpr int kBatch = 1 * kRanks;
#else
constexpr std::int64_t kRecords = 1'281'167;
constexpr int kBatch = 32 * kRanks;
#endif
constexpr std::int64_t kShards = 64;
constexpr std::int64_t kBatches = (kRecords + kBatch - 1) / kBatch;

// The records of an epoch that any rank has read.
class Reading {
 public:
  void Add(std::int64_t record) {
    const auto i = static_cast<std::size_t>(record);
    twice_ += read_[i] ? 1 : 0;
    read_[i] = true;
    ++count_;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t twice() const { return twice_; }

 private:
  std::vector<bool> read_ = std::vector<bool>(kRecords);
  std::int64_t count_ = 0;
  std::int64_t twice_ = 0;
};

InputOptions OptionsOf(int rank, int ranks, Shuffle shuffle) {
  return CheckedInputOptions({.batch_size = kBatch,
                              .rank = rank,
                              .world_size = ranks,
                              .last_batch = LastBatch::kPad,
                              .repeat = 2,
                              .shuffle = shuffle,
                              .seed = 5,
                              .label_offset = 1});
}

class ThousandRanksTest : public ::testing::Test {
 protected:
  // Reads some global batches as one rank does; returns where it then is.
  StreamPosition Read(const InputOptions& options, const StreamPosition& start,
                      std::int64_t batches) {
    const SampleOrder order(ShardSizes(index_, 0), options);
    CurrentEpoch epoch(order);
    BatchSequence sequence(order.places(), options, start);
    for (std::int64_t i = 0; i < batches; ++i) {
      const BatchPlan plan = sequence.Next().value();
      for (int slot = 0; slot < plan.samples; ++slot) {
        reading_.Add(epoch.RecordOf(plan.SampleOf(slot)));
      }
    }
    return sequence.position();
  }

  // Reads with all ranks, which must all be at the same place afterwards.
  StreamPosition ReadAll(int ranks, Shuffle shuffle,
                         const StreamPosition& start, std::int64_t batches) {
    std::optional<StreamPosition> end;
    for (int rank = 0; rank < ranks; ++rank) {
      const StreamPosition own =
          Read(OptionsOf(rank, ranks, shuffle), start, batches);
      EXPECT_EQ(own, end.value_or(own)) << rank;
      end = own;
    }
    return end.value();
  }

  void ExpectAllOnce() const {
    EXPECT_EQ(reading_.count(), kRecords);
    EXPECT_EQ(reading_.twice(), 0);
  }

  MadeIndexFiles files_{kRecords, kShards};
  RecordIndex index_ = files_.Index();
  Reading reading_;
};

TEST_F(ThousandRanksTest, ReadEachRecordOnceAnEpoch) {
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kWindow}) {
    reading_ = {};
    const StreamPosition end = ReadAll(kRanks, shuffle, {}, kBatches);
    ExpectAllOnce();
    EXPECT_EQ(end, (StreamPosition{.epoch = 1, .past_epochs = 1}));
  }
}

TEST_F(ThousandRanksTest, BecomeFewerAndMoreInMidEpoch) {
  StreamPosition position;
  std::int64_t left = kBatches;
  for (const int ranks : {kRanks, kRanks / 8, 1}) {
    const std::int64_t batches = ranks == 1 ? left : kBatches / 3;
    const std::string state = BuildStreamState(
        StateOf(index_, OptionsOf(0, ranks, Shuffle::kGlobal), position));
    const StreamPosition start = ResumePosition(
        state, index_, OptionsOf(ranks - 1, ranks, Shuffle::kGlobal));
    position = ReadAll(ranks, Shuffle::kGlobal, start, batches);
    left -= batches;
  }
  ExpectAllOnce();
}

}  // namespace
}  // namespace infeed
