#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/stats/bad_record.h"
#include "records/bytes/append_file.h"

namespace infeed {

// The file of options.bad_record_report: one line with a JSON object for each
// bad record (docs/reading.md). Lines are appended to an existing file, so
// that a resumed run continues its report. Add() hands them to the kernel
// before it returns, so a killed run does not lose them.
//
// Owns the open file, if there is one. One thread at a time. Add() and the
// constructor throw IoError when the file cannot be written.
class BadRecordReport {
 public:
  // Requires: options are checked.
  explicit BadRecordReport(const InputOptions& options);

  // Appends the records' lines in one write.
  void Add(std::span<const BadRecord> records);

  // The report's file; empty: no report.
  [[nodiscard]] std::string path() const {
    return file_ ? file_->path() : std::string();
  }

 private:
  std::optional<AppendFile> file_;
};

// A line of the report, with its newline.
[[nodiscard]] std::string BadRecordLine(const BadRecord& bad);

// The report's file for these options; with several ranks each has its own,
// "NAME.rank3".
[[nodiscard]] std::string BadRecordReportPath(const InputOptions& options);

// Counts a stream's bad records as its batches leave the graph, in batch order,
// so that counts, budgets and the report do not depend on threads.
//
// A record that is bad again, in a later epoch or as a substitute, counts again
// in the rate, but only once as a different record, and is listed once. The
// rate is the share of samples whose own record is bad; it is compared with its
// budget after each batch, once 1,000 samples or one epoch's batches have
// passed. Counting begins where the stream was started and covers this rank's
// samples.
//
// As many batches as an epoch has in which all samples were skipped end the
// stream, except of predictions, which name each bad record, and of one rank of
// several, whose share may be small.
//
// Takes some 50 bytes for each different bad record. Enter() from one thread at
// a time; totals() from any. The constructor throws IoError when the report
// cannot be written.
class BadRecordLedger {
 public:
  // Requires: options are checked, batches_per_epoch > 0.
  BadRecordLedger(const InputOptions& options, std::int64_t batches_per_epoch);

  // Enters a batch's number of samples and its bad records in the order of
  // their slots. Throws DataError when a budget is exceeded, naming the budget
  // and the record that exceeded it; later records are not entered; or when an
  // epoch had no good record. Throws IoError when the report cannot be written.
  void Enter(std::span<const BadRecord> bad, int samples);

  [[nodiscard]] BadRecordTotals totals() const;

 private:
  // Count a bad record; return whether to list it.
  bool Count(const BadRecord& bad);
  bool CountWarning(const BadRecord& bad);
  [[nodiscard]] bool IsOverNumber() const;
  [[nodiscard]] bool IsOverRate() const;
  // Whether an epoch's batches ended without a good record; begins the next.
  bool EndsBadEpoch();
  // The errors that end the stream.
  [[nodiscard]] DataError OverNumber() const;
  [[nodiscard]] DataError OverRate() const;
  [[nodiscard]] DataError NoneGood() const;

  const std::int64_t batches_per_epoch_;
  const bool needs_good_;  // a good record in each epoch
  BadRecordReport report_;
  const std::function<void(const BadRecord&)> on_bad_;
  std::unordered_set<std::int64_t> bad_;     // records
  std::unordered_set<std::int64_t> warned_;  // records
  std::vector<BadRecord> listed_;            // of one batch, for the report
  std::int64_t batches_ = 0;
  std::int64_t not_skipped_ = 0;  // samples of the epoch
  std::optional<DataError> last_;

  mutable std::mutex mutex_;  // of totals_, which only Enter() changes
  BadRecordTotals totals_;
};

}  // namespace infeed
