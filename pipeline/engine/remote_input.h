#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_links.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// What the workers of a stream are given, and where their slots go.
struct RemoteInputParts {
  const RecordIndex& index;
  const RecordStore& store;
  const SeekStore& seek_store;
  RangeLender& lender;
  StageCounters& counters;
};

// The workers of InputOptions::workers, for one stream: the links to them, and
// the check of what they make. Everything given must outlive it. Thread-safe.
class RemoteInput {
 public:
  // Returns at once, without any worker. on_all_refused: as in LinkOptions.
  // Throws UsageError for a list that is wrong (worker_list.h), and for a token
  // that is (worker_settings.h). Requires: options are checked and resolved,
  // with the limits of their memory plan; there are workers.
  RemoteInput(RpcLibrary& library, const RemoteInputParts& parts,
              const InputOptions& options,
              std::function<void(std::exception_ptr error)> on_all_refused);

  // There are new ranges.
  void Pump() { links_.Pump(); }
  // Whether a worker fills ranges now.
  [[nodiscard]] bool IsAnyOpen() const { return links_.IsAnyOpen(); }
  [[nodiscard]] std::vector<WorkerStats> stats() const {
    return links_.stats();
  }

 private:
  RangeCheck check_;
  WorkerLinks links_;
};

}  // namespace infeed
