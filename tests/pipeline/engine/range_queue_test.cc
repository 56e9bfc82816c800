#include "pipeline/engine/range_queue.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "pipeline/memory/batch_pool.h"
#include "tests/support/matchers.h"

namespace infeed::range_queue_test {

using ::testing::Eq;
using ::testing::Field;
using Clock = RangeQueue::Clock;

constexpr std::chrono::milliseconds kLatency{10};

// A batch of `slots` samples at the positions from number * slots.
PlannedBatch Planned(std::int64_t number, int slots) {
  PlannedBatch planned{.plan = {.first = number * slots, .samples = slots},
                       .records = {}};
  for (int slot = 0; slot < slots; ++slot) {
    planned.records.push_back(1000 + number * slots + slot);
  }
  return planned;
}

// A queue for one local thread, and batches of two ranges of two slots. A range
// is named by its first position: 0, 2, 4, ...
class RangeQueueTest : public ::testing::Test {
 protected:
  static constexpr int kSlots = 4;
  static constexpr int kBatches = 100;

  int Add() {
    OpenBatch& batch = batches_.emplace_back();
    const auto number = static_cast<std::int64_t>(batches_.size()) - 1;
    batch.Begin(number, Planned(number, kSlots), pool_.Take());
    return queue_.Add(batch, now_);
  }
  std::optional<std::int64_t> Take() {
    const std::optional<SlotRange> range = queue_.Take();
    return range ? std::optional(range->batch->plan().PositionOf(range->first))
                 : std::nullopt;
  }
  std::optional<RangeLoan> Lend(int link) {
    return queue_.Lend(link, kLatency, now_);
  }
  // Returns the new tickets.
  int WaitUntilLate() {
    now_ += 2 * kLatency + std::chrono::nanoseconds(1);
    return queue_.MarkLate(now_);
  }
  bool Arrive(const RangeLoan& loan) {
    return queue_
        .Arrive(loan, [](OpenBatch&, int, std::size_t) { return true; })
        .is_used;
  }

  Clock::time_point now_{};
  BatchPool pool_{
      kBatches,
      {.size = kSlots, .image_size = 1, .content = BatchContent::kNone}};
  std::deque<OpenBatch> batches_;
  RangeQueue queue_{1, 2};
};

std::int64_t PositionOf(const std::optional<RangeLoan>& loan) {
  return loan ? loan->slots.front().position : -1;
}

TEST_F(RangeQueueTest, LocalThreadsTakeTheOldestAndLinksTheNext) {
  EXPECT_EQ(Add(), 2);
  EXPECT_EQ(Add(), 2);
  EXPECT_EQ(PositionOf(Lend(0)), 2);
  EXPECT_EQ(PositionOf(Lend(1)), 4);
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_EQ(Lend(0), std::nullopt) << "6 is the local thread's next";
  EXPECT_THAT(Take(), Optional(6));
  EXPECT_EQ(Take(), std::nullopt);
}

TEST_F(RangeQueueTest, WhatASlowLinkHasIsAlsoALocalThreads) {
  queue_.FilledHere(kLatency / 5);
  (void)Add();
  (void)Add();  // Four ranges: a local thread fills them before the link.
  const std::optional<RangeLoan> last = Lend(0);
  EXPECT_EQ(PositionOf(last), 6);
  const std::optional<RangeLoan> before = Lend(1);
  EXPECT_EQ(PositionOf(before), 4);
  for (const std::int64_t position : {0, 2, 4, 6}) {
    EXPECT_THAT(Take(), Optional(position));
  }
  EXPECT_FALSE(Arrive(last.value()));
  EXPECT_FALSE(Arrive(before.value()));
}

TEST_F(RangeQueueTest, ALinkIsNotSlowIfThereAreManyRanges) {
  queue_.FilledHere(kLatency / 5);
  for (int batch = 0; batch < 3; ++batch) {
    (void)Add();
  }
  EXPECT_EQ(PositionOf(Lend(0)), 2);
}

TEST_F(RangeQueueTest, ALoanNamesEpochPositionAndRecordOfEachSlot) {
  (void)Add();
  EXPECT_THAT(
      Lend(0).value().slots,
      ElementsAre(SlotRequest{.epoch = 0, .position = 2, .record = 1002},
                  SlotRequest{.epoch = 0, .position = 3, .record = 1003}));
}

TEST_F(RangeQueueTest, TicketsThatLinksLeaveOverCountForTheNextRanges) {
  EXPECT_EQ(Add(), 2);
  (void)Lend(0);
  EXPECT_EQ(Add(), 1);
}

TEST_F(RangeQueueTest, ALostRangeIsTheFirstAgain) {
  (void)Add();
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_EQ(queue_.Lose(loan), 0) << "its ticket is still there";
  EXPECT_THAT(Take(), Optional(2));
  EXPECT_THAT(Take(), Optional(4));
}

TEST_F(RangeQueueTest, ALocalThreadTakesALateRangeIfNoneIsWaiting) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_EQ(queue_.MarkLate(now_ + 2 * kLatency), 0);
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_EQ(Take(), std::nullopt) << "it is not late yet";
  EXPECT_EQ(WaitUntilLate(), 1);
  EXPECT_THAT(Take(), Optional(2));
  EXPECT_FALSE(Arrive(loan)) << "a local thread fills it already";
}

TEST_F(RangeQueueTest, ALateRangeArrivesAllTheSame) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  (void)WaitUntilLate();
  EXPECT_TRUE(Arrive(loan));
  EXPECT_EQ(Take(), std::nullopt);
}

TEST_F(RangeQueueTest, AnotherLinkRepeatsALateRangeOnce) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  (void)WaitUntilLate();
  EXPECT_EQ(Lend(0), std::nullopt) << "it has the range";
  const RangeLoan repeated = Lend(1).value();
  EXPECT_EQ(repeated.range, loan.range);
  (void)WaitUntilLate();
  EXPECT_EQ(Lend(2), std::nullopt) << "two links have it";
  EXPECT_TRUE(Arrive(repeated));
  EXPECT_FALSE(Arrive(loan));
}

TEST_F(RangeQueueTest, ALocalThreadFillsWhatIsLateWithTwoLinks) {
  (void)Add();
  (void)Lend(0);
  (void)WaitUntilLate();
  EXPECT_THAT(Take(), Optional(0));
  (void)Lend(1);
  EXPECT_EQ(Take(), std::nullopt) << "the repeat is not late";
  EXPECT_EQ(WaitUntilLate(), 1);
  EXPECT_THAT(Take(), Optional(2));
}

TEST_F(RangeQueueTest, ALostRepeatLeavesTheFirstLoanAndTheRangeLate) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  (void)WaitUntilLate();
  const RangeLoan repeated = Lend(1).value();
  EXPECT_EQ(queue_.Lose(repeated), 0);
  EXPECT_EQ(queue_.MarkLate(now_), 0) << "a ticket is left over";
  EXPECT_EQ(PositionOf(Lend(2)), 2);
  EXPECT_TRUE(Arrive(loan));
}

TEST_F(RangeQueueTest, ALostFirstLoanLeavesTheRepeat) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  (void)WaitUntilLate();
  const RangeLoan repeated = Lend(1).value();
  (void)queue_.Lose(loan);
  EXPECT_FALSE(Arrive(loan));
  EXPECT_TRUE(Arrive(repeated));
}

TEST_F(RangeQueueTest, ALoanThatIsOverIsDropped) {
  (void)Add();
  const RangeLoan lost = Lend(0).value();
  (void)queue_.Lose(lost);
  const RangeLoan loan = Lend(0).value();
  EXPECT_EQ(loan.range, lost.range);
  EXPECT_FALSE(Arrive(lost));
  (void)queue_.Lose(lost);
  EXPECT_TRUE(Arrive(loan));
  EXPECT_FALSE(Arrive(loan));
  (void)queue_.Lose(loan);
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_EQ(Take(), std::nullopt);
}

TEST_F(RangeQueueTest, DeclinedSlotsAreLeftToALocalThread) {
  (void)Add();
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  const RangeQueue::Arrival arrival = queue_.Arrive(
      loan, [](OpenBatch&, int, std::size_t index) { return index == 0; });
  EXPECT_TRUE(arrival.is_used);
  EXPECT_EQ(arrival.slots, 1);
  EXPECT_EQ(PositionOf(Lend(0)), 4) << "2 is not for links";
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_THAT(queue_.Take(),
              Optional(AllOf(Field(&SlotRange::first, 2),
                             Field(&SlotRange::slots, Eq(0b10U)))));
}

TEST_F(RangeQueueTest, TheLastSlotMakesTheBatchWhole) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  const SlotRange first = queue_.Take().value();
  EXPECT_FALSE(first.batch->SlotDone());
  EXPECT_FALSE(first.batch->SlotDone());
  const auto write = [](OpenBatch&, int, std::size_t) { return true; };
  EXPECT_EQ(queue_.Arrive(loan, write).whole, &batches_.front());
}

TEST_F(RangeQueueTest, RecallTakesBackWhatIsLent) {
  (void)Add();
  const RangeLoan loan = Lend(0).value();
  EXPECT_THAT(Take(), Optional(0));
  EXPECT_EQ(Take(), std::nullopt);
  EXPECT_EQ(queue_.Recall(), 1);
  EXPECT_FALSE(Arrive(loan));
  EXPECT_THAT(Take(), Optional(2));
}

TEST_F(RangeQueueTest, HoldsAnyNumberOfRanges) {
  for (int i = 0; i < kBatches; ++i) {
    (void)Add();
  }
  for (int position = 0; position < kBatches * kSlots; position += 2) {
    EXPECT_THAT(Take(), Optional(position));
  }
}

// Batches that go round: each is begun, filled and checked, then begun again
// with another number. A slot's label counts how often it was filled.
class RangeRounds {
 public:
  static constexpr int kSlots = 9;
  static constexpr int kOpen = 3;
  static constexpr std::int32_t kLeft = 77;

  RangeRounds(int threads, int slots_per_range)
      : queue_(threads, slots_per_range), free_(kOpen) {
    for (OpenBatch& batch : open_) {
      batch.Begin(0, Planned(0, kSlots), pool_.Take());
      std::ranges::fill(batch.batch().labels(), kLeft);
      free_.Push(&batch);
    }
  }

  RangeQueue& queue() { return queue_; }

  // Waits for a batch that has left and adds it again. Returns the tickets.
  int Add() {
    OpenBatch& batch = *free_.Pop().value();
    EXPECT_THAT(batch.batch().labels(), Each(kLeft)) << "a late write";
    batch.Begin(number_, Planned(number_, kSlots), batch.TakeBatch());
    ++number_;
    std::ranges::fill(batch.batch().labels(), 0);
    return queue_.Add(batch, {});
  }

  static void Write(OpenBatch& batch, int slot) {
    ++batch.batch().labels()[static_cast<std::size_t>(slot)];
  }

  // A local thread's work.
  void Fill(const SlotRange& range) {
    bool is_whole = false;
    for (std::uint64_t left = range.slots; left != 0; left &= left - 1) {
      Write(*range.batch, range.first + std::countr_zero(left));
      is_whole = range.batch->SlotDone();
    }
    if (is_whole) {
      Leave(*range.batch);
    }
  }

  // A link's result; declines slots by chance. Returns the tickets.
  int Arrive(const RangeLoan& loan, std::mt19937& random) {
    const RangeQueue::Arrival arrival =
        queue_.Arrive(loan, [&](OpenBatch& batch, int slot, std::size_t index) {
          const auto at = static_cast<std::size_t>(slot);
          EXPECT_EQ(batch.record(slot), loan.slots[index].record);
          EXPECT_EQ(batch.batch().labels()[at], 0);
          if (random() % 8 == 0) {
            return false;
          }
          Write(batch, slot);
          return true;
        });
    if (arrival.whole != nullptr) {
      Leave(*arrival.whole);
    }
    return arrival.tickets;
  }

  [[nodiscard]] int left() const { return left_; }

 private:
  void Leave(OpenBatch& batch) {
    EXPECT_THAT(batch.batch().labels(), Each(1));
    std::ranges::fill(batch.batch().labels(), kLeft);
    ++left_;
    free_.Push(&batch);
  }

  BatchPool pool_{
      kOpen, {.size = kSlots, .image_size = 1, .content = BatchContent::kNone}};
  std::deque<OpenBatch> open_ = std::deque<OpenBatch>(kOpen);
  RangeQueue queue_;
  BoundedQueue<OpenBatch*> free_;
  std::int64_t number_ = 0;
  std::atomic<int> left_{0};
};

// LentRangesTest plays by a seed; these are threads, for ThreadSanitizer.
class RangeThreads {
 public:
  void Run(int batches) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this] { Work(); });
      threads.emplace_back([this, i] { BeALink(i); });
    }
    for (int i = 0; i < batches; ++i) {
      Issue(rounds_.Add());
    }
    while (rounds_.left() < batches) {
      std::this_thread::yield();
    }
    is_over_ = true;
    tickets_.release(kThreads);
  }

 private:
  static constexpr int kThreads = 2;

  void Issue(int tickets) { tickets_.release(tickets); }
  void Work() {
    while (true) {
      tickets_.acquire();
      if (is_over_) {
        return;
      }
      if (const std::optional<SlotRange> range = rounds_.queue().Take()) {
        rounds_.Fill(*range);
      }
    }
  }
  void BeALink(int link) {
    std::mt19937 random(static_cast<std::uint32_t>(link));
    RangeQueue& queue = rounds_.queue();
    while (!is_over_) {
      const std::optional<RangeLoan> loan =
          queue.Lend(link, Clock::duration::zero(), {});
      if (!loan || random() % 4 == 0) {  // Nothing to do, or never answers.
        Issue(queue.MarkLate(Clock::time_point::max()));
        std::this_thread::yield();
      } else if (random() % 4 == 0) {
        Issue(queue.Lose(*loan));
      } else {
        Issue(rounds_.Arrive(*loan, random));
        Issue(rounds_.Arrive(*loan, random));
      }
    }
  }

  RangeRounds rounds_{kThreads, 2};
  std::counting_semaphore<> tickets_{0};
  std::atomic<bool> is_over_{false};
};

TEST(RangeThreadsTest, FillEachSlotOnceAndNoneAfterItsBatchLeft) {
  RangeThreads().Run(500);
}

}  // namespace infeed::range_queue_test
