#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "pipeline/engine/bad_record_report.h"
#include "pipeline/order/options.h"
#include "pipeline/stats/bad_record.h"

namespace infeed {

// Keeps account of a stream's bad records where its batches leave the graph, in
// their order, so that neither counts nor budgets nor the report depend on
// threads.
//
// A record that is bad again, in a later epoch or as a substitute, counts
// again in the rate, but is one of the different ones, and listed, once. The
// rate is that of the samples whose own record is bad; it is held against its
// budget after each batch once 1,000 samples, or as many batches as an epoch
// has, are through. All is counted from where the stream was started, and over
// this rank's samples.
//
// Takes some 50 bytes for each different bad record. Enter() by one thread at
// a time; totals() by any. The constructor throws IoError when the report
// cannot be written.
class BadRecordLedger {
 public:
  // Requires: options are checked, batches_per_epoch > 0.
  BadRecordLedger(const InputOptions& options, std::int64_t batches_per_epoch);

  // Enters a batch of so many samples, with its bad records in the order of
  // their slots. Throws DataError when they are over a budget, naming it and
  // the record that was one too many; those behind it are not entered. Throws
  // IoError from the report.
  void Enter(std::span<const BadRecord> bad, int samples);

  [[nodiscard]] BadRecordTotals totals() const;

 private:
  // Return whether the record is to be listed.
  bool Count(const BadRecord& bad);
  bool CountWarning(const BadRecord& bad);
  [[nodiscard]] bool IsOverNumber() const;
  [[nodiscard]] bool IsOverRate() const;
  // The errors that end the stream.
  [[nodiscard]] DataError OverNumber() const;
  [[nodiscard]] DataError OverRate() const;

  const std::int64_t batches_per_epoch_;
  BadRecordReport report_;
  const std::function<void(const BadRecord&)> on_bad_;
  std::unordered_set<std::int64_t> bad_;     // records
  std::unordered_set<std::int64_t> warned_;  // records
  std::vector<BadRecord> listed_;            // of one batch, for the report
  std::int64_t batches_ = 0;
  std::optional<DataError> last_;

  mutable std::mutex mutex_;  // of totals_, which only Enter() changes
  BadRecordTotals totals_;
};

}  // namespace infeed
