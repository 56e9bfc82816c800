#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/remote/lent_ranges.h"
#include "pipeline/remote/link_set.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_link.h"
#include "pipeline/remote/worker_list.h"
#include "pipeline/remote/worker_list_reader.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"

namespace infeed {

struct LinkOptions {
  OpenRequest open = {};         // the stream
  std::int64_t check_every = 0;  // RangeCheck::IsChosen()
  int most_links = 16;
  int most_ranges = 32;  // out at once, over all links
  int slots_per_range = 16;
  RpcAccess access = {};
  std::string trainer = {};  // ChosenWorkers()
  LinkTimes times = {};
  // A line about a worker that was refused, dropped, lost or found again, each
  // kind once for a worker and minute, or about a file of the list; from any
  // thread. May be empty.
  std::function<void(const std::string& line)> note = {};
  // Called at most once, at the start: if, when each worker has been tried,
  // none has accepted the stream, and one has refused it; with a UsageError.
  // Later a refusal ends no stream. May be empty.
  std::function<void(std::exception_ptr error)> on_all_refused = {};
};

// Those of a stream, without on_all_refused. Throws UsageError for a token that
// is wrong (worker_settings.h). Requires: options are checked and resolved,
// with the limits of their memory plan.
[[nodiscard]] LinkOptions LinkOptionsOf(const RecordIndex& index,
                                        const InputOptions& options);

// All workers of a stream, as its trainer sees them: borrows ranges from the
// queue, has workers fill them, writes what comes into the batch.
//
//   lender ─ Lend ─► link: ranges out ≤ its credit ─ Fill ─► worker
//          ◄ Arrive ─ checks ◄─────────────── reply ─────────┘
//          ◄ Lose ─── lost, late beyond the deadline, wrong, dropped
//
// A link is connecting, open, lost (tried again after times.first_retry to
// last_retry, randomised), refused or full (asked again after last_retry) or
// dropped (a check failed; never used again). The first range of each link is
// checked (RangeCheck), then one in check_every. A link whose median latency is
// four times the median of all gets one range at a time.
//
// Everything must outlive it: library, lender, check, counters. Thread-safe.
class WorkerLinks {
 public:
  // Returns at once; nothing is open yet. options: of the stream. check: null:
  // nothing is checked.
  WorkerLinks(RpcLibrary& library, RangeLender& lender,
              const InputOptions& input, WorkerList list, RangeCheck* check,
              StageCounters& counters, LinkOptions options);
  // Cancels all calls.
  ~WorkerLinks();
  WorkerLinks(const WorkerLinks&) = delete;
  WorkerLinks& operator=(const WorkerLinks&) = delete;

  // There are new ranges: a thread of its own lends as many as links have
  // credit for. Returns at once.
  void Pump();

  // Whether a worker fills ranges now.
  [[nodiscard]] bool IsAnyOpen() const;
  [[nodiscard]] std::vector<WorkerStats> stats() const;

 private:
  using Clock = RangeLender::Clock;

  // The thread's function. It does all that is neither the reading of the
  // list, which may block, nor the end of a call. Only this thread makes and
  // destroys channels and begins calls, so none is destroyed under a call's
  // beginning, nor by a call's end, and ends that come at once do not recurse.
  void Work();
  // Waits for work, until then at most. Returns false at the end.
  [[nodiscard]] bool Wait(Clock::time_point until);

  // The thread's work.
  void ChooseLinks();
  void OpenLinks(Clock::time_point now);
  void Open(ConnectedLink& to);
  void LendToAll(Clock::time_point now);
  void ReportIfAllRefused();

  // Lends the link one more range. Returns false if it cannot have one now.
  [[nodiscard]] bool LendTo(ConnectedLink& to, LinkLatencies::Duration of_all,
                            Clock::time_point now);
  void BeginFill(std::shared_ptr<const LentRange> lent,
                 std::chrono::milliseconds timeout, std::uint64_t key);

  // The ends of calls.
  void Opened(ConnectedLink& by, const RpcStatus& status, RpcPieces pieces);
  void Filled(const LentRange& lent, const RpcStatus& status, RpcPieces pieces);

  // Not under the lock.
  void Print(const std::string& line) const;
  // Takes the addresses of the list, and lines to be printed by the thread.
  void Listed(std::vector<std::string> addresses,
              std::vector<std::string> notes);

  RpcLibrary& library_;
  RangeLender& lender_;
  const InputOptions input_;
  RangeCheck* const check_;
  const LinkOptions options_;
  const std::string open_request_;

  SharedLinks shared_;
  LentRanges lent_;
  std::condition_variable wake_;  // the thread
  // Under the lock of shared_.
  bool has_work_ = false;
  bool is_accepted_ = false;  // by any worker, once
  bool has_begun_ = false;    // all workers have been tried
  std::vector<std::string> addresses_;
  std::vector<std::string> notes_;  // of the list

  WorkerListReader list_;
  std::thread work_;
};

}  // namespace infeed
