#include "pipeline/engine/range_queue.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = RangeQueue::Clock;

constexpr int kMostSlots = 64;          // bits of SlotRange::slots
constexpr std::size_t kFirstSize = 64;  // a power of two
constexpr int kLateAfter = 2;           // times the link's median latency
constexpr Clock::rep kMeanOf = 8;       // local ranges

std::vector<SlotRequest> RequestsOf(const SlotRange& range) {
  const int count = std::popcount(range.slots);
  const int end = range.first + count;
  std::vector<SlotRequest> requests;
  requests.reserve(static_cast<std::size_t>(count));
  for (int slot = range.first; slot < end; ++slot) {
    requests.push_back(
        RequestOf(range.batch->plan(), slot, range.batch->record(slot)));
  }
  return requests;
}

}  // namespace

RangeQueue::RangeQueue(int threads, int slots_per_range)
    : threads_(threads), slots_per_range_(slots_per_range), ring_(kFirstSize) {
  Check(threads > 0, "declined slots need a local thread");
  Check(slots_per_range > 0 && slots_per_range <= kMostSlots,
        "a range has 1 to 64 slots");
}

int RangeQueue::Add(OpenBatch& batch, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const int samples = batch.plan().samples;
  for (int first = 0; first < samples; first += slots_per_range_) {
    const int count = std::min(slots_per_range_, samples - first);
    Append({.batch = &batch,
            .first = first,
            .slots = ~std::uint64_t{0} >> (kMostSlots - count),
            .since = now});
  }
  return NewTickets();
}

void RangeQueue::Append(const SlotRange& range) {
  if (end_ - begin_ == static_cast<std::int64_t>(ring_.size())) {
    std::vector<Entry> larger(2 * ring_.size());
    for (std::int64_t i = begin_; i < end_; ++i) {
      larger[static_cast<std::size_t>(i) & (larger.size() - 1)] = At(i);
    }
    ring_.swap(larger);
  }
  const std::int64_t number = end_++;
  At(number) = {.range = range};
  SetState(number, State::kWaiting);
}

void RangeQueue::SetState(std::int64_t number, State state) {
  const auto is_wanted = [](State one) {
    return one == State::kWaiting || one == State::kLate ? 1 : 0;
  };
  State& now = At(number).state;
  wanted_ += is_wanted(state) - is_wanted(now);
  now = state;
  if (state == State::kWaiting) {
    first_waiting_ = std::min(first_waiting_, number);
  }
  while (begin_ < end_ && At(begin_).state == State::kDone) {
    ++begin_;
  }
}

std::optional<SlotRange> RangeQueue::Take() {
  const std::lock_guard lock(mutex_);
  --tickets_;
  if (wanted_ == 0) {
    return std::nullopt;  // Links have taken the ranges.
  }
  std::int64_t number = FirstWaiting();
  if (number == end_) {
    number = FirstLate();
  }
  const SlotRange range = At(number).range;
  SetState(number, State::kDone);  // A local thread always fills it.
  return range;
}

std::int64_t RangeQueue::FirstWaiting() {
  first_waiting_ = std::max(first_waiting_, begin_);
  while (first_waiting_ < end_ && At(first_waiting_).state != State::kWaiting) {
    ++first_waiting_;
  }
  return first_waiting_;
}

std::int64_t RangeQueue::FirstLate() {
  std::int64_t number = begin_;
  while (number < end_ && At(number).state != State::kLate) {
    ++number;
  }
  return number;
}

void RangeQueue::FilledHere(Clock::duration time) {
  // A lost update does no harm.
  const Clock::rep mean = local_time_.load(std::memory_order_relaxed);
  local_time_.store(
      mean == 0 ? time.count() : mean + (time.count() - mean) / kMeanOf,
      std::memory_order_relaxed);
}

bool RangeQueue::IsSlow(Clock::duration latency) const {
  const Clock::rep time = local_time_.load(std::memory_order_relaxed);
  return time > 0 && threads_ * (latency.count() / time) > end_ - begin_;
}

std::int64_t RangeQueue::LastWaiting() {
  const std::int64_t first = FirstWaiting();  // a local thread's next one
  for (std::int64_t number = end_ - 1; number > first; --number) {
    if (At(number).state == State::kWaiting && !At(number).is_declined) {
      return number;
    }
  }
  return end_;
}

std::int64_t RangeQueue::WaitingForLinks() {
  int left = threads_;  // for the local threads
  for (std::int64_t number = FirstWaiting(); number < end_; ++number) {
    const Entry& entry = At(number);
    if (entry.state != State::kWaiting) {
      continue;
    }
    if (left > 0) {
      --left;
    } else if (!entry.is_declined) {
      return number;
    }
  }
  return end_;
}

std::int64_t RangeQueue::LateForLink(int link) {
  for (std::int64_t number = begin_; number < end_; ++number) {
    const Entry& entry = At(number);
    if (entry.state == State::kLate && entry.holders[0].link != link &&
        entry.holders[1].loan == 0) {
      return number;
    }
  }
  return end_;
}

std::optional<RangeLoan> RangeQueue::Lend(int link, Clock::duration latency,
                                          Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const bool is_slow = IsSlow(latency);
  std::int64_t number = is_slow ? LastWaiting() : WaitingForLinks();
  if (number == end_ && !is_slow) {
    number = LateForLink(link);
  }
  if (number == end_) {
    return std::nullopt;
  }
  Entry& entry = At(number);
  Holder& holder = entry.holders[entry.holders[0].loan == 0 ? 0 : 1];
  holder = {
      .loan = ++loans_, .link = link, .late_at = now + kLateAfter * latency};
  SetState(number, is_slow ? State::kLate : State::kOut);
  // Under the lock: the batch cannot leave meanwhile.
  return RangeLoan{
      .range = number, .number = holder.loan, .slots = RequestsOf(entry.range)};
}

RangeQueue::Holder* RangeQueue::HolderOf(const RangeLoan& loan) {
  if (loan.range < begin_ || !IsLent(At(loan.range))) {
    return nullptr;
  }
  for (Holder& holder : At(loan.range).holders) {
    if (holder.loan == loan.number) {
      return &holder;
    }
  }
  return nullptr;
}

RangeQueue::Arrival RangeQueue::Arrive(const RangeLoan& loan,
                                       const RangeLender::WriteSlot& write) {
  const std::optional<SlotRange> range = Claim(loan);
  if (!range) {
    return {};
  }
  Arrival arrival{.is_used = true};
  std::uint64_t declined = 0;
  for (std::size_t i = 0; i < loan.slots.size(); ++i) {
    const int slot = range->first + static_cast<int>(i);
    if (!write(*range->batch, slot, i)) {
      declined |= std::uint64_t{1} << i;
      continue;
    }
    ++arrival.slots;
    if (range->batch->SlotDone()) {
      arrival.whole = range->batch;
    }
  }
  arrival.tickets = Finish(loan.range, declined);
  return arrival;
}

std::optional<SlotRange> RangeQueue::Claim(const RangeLoan& loan) {
  const std::lock_guard lock(mutex_);
  if (HolderOf(loan) == nullptr) {
    return std::nullopt;
  }
  At(loan.range).holders = {};
  SetState(loan.range, State::kWriting);
  return At(loan.range).range;
}

int RangeQueue::Finish(std::int64_t number, std::uint64_t declined) {
  const std::lock_guard lock(mutex_);
  Entry& entry = At(number);
  entry.range.slots = declined;
  entry.is_declined = declined != 0;
  SetState(number, declined == 0 ? State::kDone : State::kWaiting);
  return NewTickets();
}

int RangeQueue::Lose(const RangeLoan& loan) {
  const std::lock_guard lock(mutex_);
  Holder* const holder = HolderOf(loan);
  if (holder == nullptr) {
    return 0;
  }
  std::array<Holder, 2>& holders = At(loan.range).holders;
  *holder = holders[1];
  holders[1] = {};
  if (holders[0].loan == 0) {
    SetState(loan.range, State::kWaiting);
  }
  return NewTickets();
}

int RangeQueue::MarkLate(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (std::int64_t number = begin_; number < end_; ++number) {
    const Entry& entry = At(number);
    const Holder& latest = entry.holders[entry.holders[1].loan == 0 ? 0 : 1];
    if (entry.state == State::kOut && now > latest.late_at) {
      SetState(number, State::kLate);
    }
  }
  return NewTickets();
}

int RangeQueue::Recall() {
  const std::lock_guard lock(mutex_);
  for (std::int64_t number = begin_; number < end_; ++number) {
    if (IsLent(At(number))) {
      At(number).holders = {};
      SetState(number, State::kWaiting);
    }
  }
  return NewTickets();
}

int RangeQueue::NewTickets() {
  const int fresh = std::max(0, wanted_ - tickets_);
  tickets_ += fresh;
  return fresh;
}

}  // namespace infeed
