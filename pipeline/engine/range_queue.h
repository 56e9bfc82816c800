#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/range_lender.h"

namespace infeed {

// Neighbouring slots of a batch that one thread fills. At most 64.
struct SlotRange {
  OpenBatch* batch = nullptr;
  int first = 0;
  std::uint64_t slots = 0;  // bit i: slot first + i is to be filled
  std::chrono::steady_clock::time_point since;  // waiting since
};

// The ranges of all batches in the graph, in the order of the batches: who
// fills which one.
//
//             Take()                      a local thread fills it
//   waiting ──────────────────────────────────────────────► done
//    ▲  │ Lend()               Take()                        ▲
//    │  ▼                 ┌──────────────────────────────────┤
//    │ out ──MarkLate()─► late ──Lend()─► out (to two links) │
//    │  │                  │                                 │
//    │  └──────Arrive()────┴────► writing ───────────────────┘
//    │ Lose() by all its links      │
//    └──────────────────────────────┘ declined slots
//
// Local threads take the oldest waiting range, or the oldest late one. Links
// get the oldest waiting one that is not among the first `threads`, or the
// oldest late one of a single other link. A slow link, in whose latency local
// threads would fill all ranges that there are, gets the last waiting one, late
// at once: so it does not slow the stream down, and its latency stays known.
//
// A thread fills a range only if it moved it to done or writing, under the
// lock, so each slot is filled once. Such a range keeps its batch in the graph.
// Numbers of ranges and loans are not used again, so what comes too late finds
// no range, or no loan of its number.
//
// Tickets: Add(), Arrive(), Lose(), MarkLate() and Recall() return how many
// more times a local thread has to call Take(), once for each range that became
// waiting or late. Links that take ranges leave tickets over, which count for
// the next ranges: there are at most as many as there were ranges at once.
//
// Thread-safe. Batches must outlive their ranges.
class RangeQueue {
 public:
  using Clock = RangeLender::Clock;

  // Requires: threads > 0, 0 < slots_per_range <= 64.
  RangeQueue(int threads, int slots_per_range);

  // Adds the batch's samples. When it returns, the batch may have left already.
  [[nodiscard]] int Add(OpenBatch& batch, Clock::time_point now);

  // Redeems a ticket. Requires: the caller fills the range, if there is one.
  [[nodiscard]] std::optional<SlotRange> Take();
  // Notes how long a local thread took to fill a range.
  void FilledHere(Clock::duration time);

  // As RangeLender's.
  [[nodiscard]] std::optional<RangeLoan> Lend(int link, Clock::duration latency,
                                              Clock::time_point now);
  struct Arrival {
    bool is_used = false;
    int slots = 0;               // that were written
    OpenBatch* whole = nullptr;  // the batch whose last slot was written
    int tickets = 0;
  };
  [[nodiscard]] Arrival Arrive(const RangeLoan& loan,
                               const RangeLender::WriteSlot& write);
  [[nodiscard]] int Lose(const RangeLoan& loan);
  [[nodiscard]] int MarkLate(Clock::time_point now);

  // Takes all loans back.
  [[nodiscard]] int Recall();

 private:
  enum class State { kWaiting, kOut, kLate, kWriting, kDone };
  struct Holder {
    std::int64_t loan = 0;  // 0: none
    int link = 0;
    Clock::time_point late_at = {};
  };
  struct Entry {
    SlotRange range = {};
    State state = State::kDone;
    bool is_declined = false;            // not for links
    std::array<Holder, 2> holders = {};  // if there is one, the first is set
  };

  [[nodiscard]] static bool IsLent(const Entry& entry) {
    return entry.state == State::kOut || entry.state == State::kLate;
  }
  [[nodiscard]] Entry& At(std::int64_t number) {
    return ring_[static_cast<std::size_t>(number) & (ring_.size() - 1)];
  }
  void Append(const SlotRange& range);
  void SetState(std::int64_t number, State state);
  // Return a range's number, or end_.
  [[nodiscard]] std::int64_t FirstWaiting();
  [[nodiscard]] std::int64_t FirstLate();
  [[nodiscard]] std::int64_t WaitingForLinks();
  [[nodiscard]] std::int64_t LastWaiting();
  [[nodiscard]] std::int64_t LateForLink(int link);
  // Moves the loan's range to writing; nullopt: it has another state or loan.
  [[nodiscard]] std::optional<SlotRange> Claim(const RangeLoan& loan);
  // Returns the tickets for the slots that are left.
  [[nodiscard]] int Finish(std::int64_t number, std::uint64_t declined);
  // The loan's place among the range's holders; null: it is over.
  [[nodiscard]] Holder* HolderOf(const RangeLoan& loan);
  [[nodiscard]] int NewTickets();

  [[nodiscard]] bool IsSlow(Clock::duration latency) const;

  const int threads_;
  const int slots_per_range_;
  // Mean of the last ranges filled here; 0: none yet.
  std::atomic<Clock::rep> local_time_{0};

  std::mutex mutex_;
  // Ranges begin_ to end_ - 1; i is in place i mod size, a power of two.
  std::vector<Entry> ring_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t first_waiting_ = 0;  // none before it is waiting
  std::int64_t loans_ = 0;
  int wanted_ = 0;   // ranges that are waiting or late
  int tickets_ = 0;  // not yet redeemed; >= wanted_ once they are handed out
};

}  // namespace infeed
