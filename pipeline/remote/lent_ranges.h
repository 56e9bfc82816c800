#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/options/options.h"
#include "pipeline/remote/link_set.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/stats/stage_counters.h"

namespace infeed {

// A range that is with a worker.
struct LentRange {
  ConnectedLink* to;  // outlives its channel, and thus its calls
  int opening;
  RangeLoan loan;
  RangeLender::Clock::time_point since;
};

// Takes ranges back from workers: checks what these filled, writes it into the
// batch, and notes at the link how the range ended.
//
// All that is given must outlive it. Thread-safe.
class LentRanges {
 public:
  // input: options of the stream. check may be null: nothing is checked.
  LentRanges(RangeLender& lender, const InputOptions& input, RangeCheck* check,
             StageCounters& counters, std::int64_t check_every,
             SharedLinks& shared);

  // The range's call has ended. Returns a line about the worker for a user; "":
  // none. Requires: shared.mutex is not locked.
  [[nodiscard]] std::string TakeBack(const LentRange& lent,
                                     const RpcStatus& status, RpcPieces pieces);

 private:
  using Clock = RangeLender::Clock;

  // Return lines.
  [[nodiscard]] std::string NotFilled(const LentRange& lent,
                                      const RpcStatus& status,
                                      Clock::time_point now);
  [[nodiscard]] std::string Filled(const LentRange& lent, FilledSlots& filled,
                                   Clock::time_point now);
  [[nodiscard]] std::string Write(const LentRange& lent, FilledSlots& filled,
                                  Clock::time_point arrived);
  // The range is lost, and the link dropped.
  [[nodiscard]] std::string Reject(const LentRange& lent,
                                   const std::string& reason);
  // Under the lock.
  [[nodiscard]] std::string Drop(ConnectedLink& one, const std::string& reason);

  // Notes a reply, whether it is to be checked; nullopt: it cannot be used.
  [[nodiscard]] std::optional<bool> Replied(const LentRange& lent,
                                            const FillNote& note,
                                            Clock::time_point arrived);
  void NoteCheck(const LentRange& lent, bool is_equal, std::uint64_t declined);
  void Lose(const LentRange& lent);

  RangeLender& lender_;
  const InputOptions& input_;
  RangeCheck* const check_;
  StageCounters& counters_;
  const std::int64_t check_every_;
  SharedLinks& shared_;
};

}  // namespace infeed
