#pragma once

#include <optional>
#include <span>
#include <string>

#include "pipeline/order/options.h"
#include "pipeline/stats/bad_record.h"
#include "records/bytes/append_file.h"

namespace infeed {

// The file of options.bad_record_report: one line with a JSON object for each
// bad record (docs/bad_records.md). Lines are appended to an existing file, so
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

}  // namespace infeed
