#include "pipeline/remote/lent_ranges.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>

#include "base/error.h"
#include "pipeline/remote/worker_link.h"
#include "pipeline/slots/open_batch.h"

namespace infeed {

LentRanges::LentRanges(RangeLender& lender, const InputOptions& input,
                       RangeCheck* check, StageCounters& counters,
                       std::int64_t check_every, SharedLinks& shared)
    : lender_(lender),
      input_(input),
      check_(check),
      counters_(counters),
      check_every_(check_every),
      shared_(shared) {}

std::string LentRanges::TakeBack(const LentRange& lent, const RpcStatus& status,
                                 RpcPieces pieces) {
  const Clock::time_point now = Clock::now();
  if (!status.is_ok()) {
    return NotFilled(lent, status, now);
  }
  const int slots = static_cast<int>(lent.loan.slots.size());
  std::optional<FilledSlots> filled;
  try {
    filled.emplace(input_, slots, pieces, input_.verify_checksums);
  } catch (const DataError& error) {
    return Reject(lent, std::string("a reply is damaged: ") + error.what());
  }
  return Filled(lent, *filled, now);
}

std::string LentRanges::NotFilled(const LentRange& lent,
                                  const RpcStatus& status,
                                  Clock::time_point now) {
  ConnectedLink& by = *lent.to;
  std::string line;
  {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.is_stopping || by.is_unwanted) {
      by.link.Lost();  // It was cancelled here.
    } else {
      line = by.link.Failed(status, lent.opening, now, shared_.Spread());
    }
  }
  lender_.Lose(lent.loan);
  return line;
}

std::string LentRanges::Filled(const LentRange& lent, FilledSlots& filled,
                               Clock::time_point now) {
  const std::optional<bool> is_checked = Replied(lent, filled.note(), now);
  if (!is_checked) {
    Lose(lent);
    return {};
  }
  if (*is_checked) {
    const std::optional<std::string> difference =
        check_->Difference(lent.loan.slots, filled, [this] {
          const std::lock_guard lock(shared_.mutex);
          return shared_.is_stopping;
        });
    if (!difference) {
      Lose(lent);
      return {};
    }
    NoteCheck(lent, difference->empty(), filled.declined());
    if (!difference->empty()) {
      return Reject(lent, "it fills slots differently: " + *difference);
    }
  }
  return Write(lent, filled, now);
}

std::optional<bool> LentRanges::Replied(const LentRange& lent,
                                        const FillNote& note,
                                        Clock::time_point arrived) {
  const std::lock_guard lock(shared_.mutex);
  WorkerLink& link = lent.to->link;
  if (link.is_dropped()) {
    return std::nullopt;
  }
  link.Replied(note, arrived - lent.since);
  return check_ != nullptr &&
         (link.is_on_probation() ||
          RangeCheck::IsChosen(lent.loan.slots, check_every_));
}

void LentRanges::NoteCheck(const LentRange& lent, bool is_equal,
                           std::uint64_t declined) {
  const bool has_slots =
      std::popcount(declined) < static_cast<int>(lent.loan.slots.size());
  const std::lock_guard lock(shared_.mutex);
  // A range without any slot proves nothing.
  lent.to->link.Checked(is_equal && has_slots, lent.opening);
}

std::string LentRanges::Write(const LentRange& lent, FilledSlots& filled,
                              Clock::time_point arrived) {
  int images = 0;
  std::int64_t bytes = 0;
  const bool is_used = lender_.Arrive(
      lent.loan, [&](OpenBatch& batch, int slot, std::size_t index) {
        if (!filled.Write(batch, slot, index)) {
          return false;
        }
        ++images;
        bytes += static_cast<std::int64_t>(batch.batch().slot_image_bytes());
        return true;
      });
  counters_.receive.Add(bytes, Clock::now() - arrived, arrived - lent.since,
                        images);
  if (is_used) {
    counters_.cut_lists.fetch_add(filled.note().cut_lists,
                                  std::memory_order_relaxed);
  }
  const std::lock_guard lock(shared_.mutex);
  lent.to->link.Used(is_used, images, std::popcount(filled.declined()));
  return filled.wrong_sums() == 0
             ? std::string()
             : Drop(*lent.to, "slots of a reply do not have their checksums");
}

void LentRanges::Lose(const LentRange& lent) {
  {
    const std::lock_guard lock(shared_.mutex);
    lent.to->link.Lost();
  }
  lender_.Lose(lent.loan);
}

std::string LentRanges::Reject(const LentRange& lent,
                               const std::string& reason) {
  Lose(lent);
  const std::lock_guard lock(shared_.mutex);
  return Drop(*lent.to, reason);
}

std::string LentRanges::Drop(ConnectedLink& one, const std::string& reason) {
  shared_.is_list_new = true;
  return one.link.Drop(reason, Clock::now());
}

}  // namespace infeed
