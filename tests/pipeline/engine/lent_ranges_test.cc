// A graph whose links are played by the test: the batches are those of
// graph=basic, whatever links do.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "pipeline/engine/input_graph.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/slots/range_lender.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

namespace infeed::lent_ranges_test {

constexpr int kRecords = 22;
constexpr int kBatches = 12;
constexpr int kPool = 3;
constexpr std::uint32_t kLeft = 0x77777777;  // pixels of a batch that has left

struct DamagedShards : TestShards {
  DamagedShards() : TestShards(TestPayloads(kRecords)) {
    Damage(3);
    Damage(17);
  }
};

const RecordIndex& Index() {
  static const DamagedShards shards;
  return shards.index();
}

InputOptions Options() {
  InputOptions options = SmallTraining();
  options.on_bad_record = OnBadRecord::kReplace;
  options.label_offset = 1;
  return CheckedInputOptions(options);
}

const std::vector<BatchCopy>& Expected() {
  static const std::vector<BatchCopy> batches = [] {
    InputOptions options = Options();
    options.graph = GraphKind::kBasic;
    return Stream(Index(), options, kBatches);
  }();
  return batches;
}

// A worker elsewhere: fills the slots of good records.
class FakeWorker {
 public:
  explicit FakeWorker(std::mt19937& random) : random_(random) {
    for (std::size_t i = 0; i < Expected().size(); ++i) {
      const BatchCopy& batch = Expected()[i];
      for (std::size_t slot = 0; slot < batch.positions.size(); ++slot) {
        places_[{batch.epoch, batch.positions[slot]}] = {i, slot};
      }
    }
  }

  // Returns false for bad records, and for others by chance.
  bool Write(const SlotRequest& request, OpenBatch& open, int slot) {
    EXPECT_EQ(open.record(slot), request.record);
    const auto [from, at] = places_.at({request.epoch, request.position});
    const BatchCopy& good = Expected()[from];
    const std::size_t to = static_cast<std::size_t>(slot);
    const std::span<std::uint32_t> pixels = open.batch().slot_pixels(slot);
    if (good.records[at] != request.record || random_() % 8 == 0) {
      std::ranges::fill(pixels, 0xbad);
      open.batch().labels()[to] = -5;
      return false;
    }
    std::copy_n(
        good.pixels.begin() + static_cast<std::ptrdiff_t>(at * pixels.size()),
        pixels.size(), pixels.begin());
    open.batch().labels()[to] = good.labels[at];
    open.batch().weights()[to] = good.weights[at];
    return true;
  }

 private:
  std::mt19937& random_;
  std::map<std::pair<std::uint32_t, std::int64_t>,
           std::pair<std::size_t, std::size_t>>
      places_;
};

// A stream whose batches are put, and whose links act, as a seed decides.
// Batches that were delivered are filled with kLeft and used again.
class LentRanges {
 public:
  explicit LentRanges(std::uint32_t seed) : random_(seed) {
    graph_.emplace(filler_,
                   InputGraphOptions{
                       .threads = 1 + static_cast<int>(random_() % 3),
                       .slots_per_task = 1 + static_cast<int>(random_() % 3)},
                   [this](OpenBatch& batch) { Deliver(batch); });
  }

  void Step() {
    switch (random_() % 6) {
      case 0:
        Put();
        Lend();
        Lend();
        break;
      case 1:
        now_ += std::chrono::milliseconds(10);
        graph_->lender()->MarkLate(now_);
        break;
      case 2:
        Lend();
        break;
      default:
        EndALoan();
    }
  }

  void Cancel() { filler_.Cancel(); }

  // Destroys the graph.
  void End() {
    graph_.reset();
    EXPECT_EQ(counters_.waiting.depth(), 0);
    while (left_.size() > 0) {
      EXPECT_THAT(left_.Pop().value()->pixels(), Each(kLeft)) << "a late write";
    }
  }

  // Expects so many of the batches, in order.
  void ExpectDelivered(int batches) const {
    ASSERT_EQ(delivered(), batches);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      EXPECT_EQ(copies_[i], Expected()[i]) << i;
    }
  }

  [[nodiscard]] int put() const { return put_; }
  [[nodiscard]] int delivered() const { return delivered_; }
  [[nodiscard]] int used() const { return used_; }

 private:
  void Put() {
    if (put_ == kBatches || (put_ >= kPool && left_.size() == 0)) {
      return;
    }
    BatchHandle batch;
    if (put_ < kPool) {
      batch = pool_.Take();
    } else {
      batch = left_.Pop().value();
      EXPECT_THAT(batch->pixels(), Each(kLeft)) << "a late write";
    }
    OpenBatch& open = open_[static_cast<std::size_t>(put_ % kPool)];
    open.Begin(put_++, WithRecords(sequence_.Next().value(), epoch_),
               std::move(batch));
    counters_.waiting.Add(open.plan().samples);
    graph_->Put(open);
  }

  void Lend() {
    if (std::optional<RangeLoan> loan =
            graph_->lender()->Lend(static_cast<int>(random_() % 3),
                                   std::chrono::milliseconds(20), now_)) {
      loans_.push_back(*std::move(loan));
    }
  }

  // A loan arrives, is lost or forgotten; sometimes not for the last time.
  void EndALoan() {
    if (loans_.empty()) {
      return;
    }
    std::swap(loans_[random_() % loans_.size()], loans_.back());
    const RangeLoan loan = loans_.back();
    if (random_() % 3 != 0) {
      loans_.pop_back();
    }
    switch (random_() % 4) {
      case 0:
        graph_->lender()->Lose(loan);
        break;
      case 1:
        break;
      default:
        used_ += graph_->lender()->Arrive(
            loan, [&](OpenBatch& batch, int slot, std::size_t index) {
              return worker_.Write(loan.slots[index], batch, slot);
            });
    }
  }

  void Deliver(OpenBatch& open) {
    if (filler_.is_cancelled()) {
      return;
    }
    open.GatherFields();
    BatchHandle batch = open.TakeBatch();
    copies_.push_back(CopyOf(*batch));
    std::ranges::fill(batch->pixels(), kLeft);
    ++delivered_;
    left_.Push(std::move(batch));
  }

  const InputOptions options_ = Options();
  std::mt19937 random_;
  FakeWorker worker_{random_};
  const RecordStore store_{Index()};
  const SeekStore seek_store_{Index()};
  StageCounters counters_;
  SlotFiller filler_{store_, seek_store_, kRecords, options_, counters_};
  BatchPool pool_{kPool,
                  {.size = options_.batch_size,
                   .image_size = options_.preprocess.image_size}};
  const SampleOrder order_{kRecords, options_.shuffle, options_.seed};
  CurrentEpoch epoch_{order_};
  BatchSequence sequence_{kRecords, options_, {}};
  std::deque<OpenBatch> open_ = std::deque<OpenBatch>(kPool);
  BoundedQueue<BatchHandle> left_{kPool};
  std::vector<BatchCopy> copies_;  // by the graph's threads until its end
  std::atomic<int> delivered_{0};
  std::vector<RangeLoan> loans_;
  RangeLender::Clock::time_point now_{};
  int put_ = 0;
  int used_ = 0;
  std::optional<InputGraph> graph_;
};

TEST(LentRangesTest, BatchesAreThoseOfTheBasicGraph) {
  int used = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    LentRanges stream(seed);
    while (stream.delivered() < kBatches) {
      stream.Step();
    }
    stream.End();
    stream.ExpectDelivered(kBatches);
    used += stream.used();
  }
  EXPECT_GT(used, 0);
}

TEST(LentRangesTest, DestructionFillsWhatIsLent) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    LentRanges stream(seed);
    for (std::uint32_t i = 0; i < seed; ++i) {
      stream.Step();
    }
    stream.End();
    stream.ExpectDelivered(stream.put());
  }
}

TEST(LentRangesTest, ACancelledGraphEnds) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    LentRanges stream(seed);
    for (std::uint32_t i = 0; i < seed; ++i) {
      stream.Step();
    }
    stream.Cancel();
    for (std::uint32_t i = 0; i < seed % 7; ++i) {
      stream.Step();
    }
    stream.End();
    stream.ExpectDelivered(stream.delivered());
  }
}

TEST(LentRangesTest, TheBasicGraphLendsNothing) {
  const RecordStore store(Index());
  const SeekStore seek_store(Index());
  StageCounters counters;
  SlotFiller filler(store, seek_store, kRecords, Options(), counters);
  EXPECT_EQ(InputGraph(filler, {.threads = 0}, {}).lender(), nullptr);
}

}  // namespace infeed::lent_ranges_test
