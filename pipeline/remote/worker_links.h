#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_list.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// The waits of the links; tests have shorter ones.
struct LinkTimes {
  std::chrono::milliseconds tick{10};            // of RangeLender::MarkLate()
  std::chrono::milliseconds resolve{30'000};     // between readings of the list
  std::chrono::milliseconds open{10'000};        // for an answer to Open
  std::chrono::milliseconds least_fill{10'000};  // a Fill's shortest deadline
  std::chrono::milliseconds first_retry{1'000};  // after a loss; doubles
  std::chrono::milliseconds last_retry{60'000};  // and after a refusal
};

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
  // kind once for a worker and minute; from any thread. May be empty.
  std::function<void(const std::string& line)> note = {};
  // Called at most once, at the start: if, when each worker has been tried,
  // none has accepted the stream, and one has refused it; with a UsageError.
  // Later a refusal ends no stream. May be empty.
  std::function<void(std::exception_ptr error)> on_all_refused = {};
};

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
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace infeed
