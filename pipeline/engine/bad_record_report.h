#pragma once

#include <optional>
#include <span>
#include <string>

#include "pipeline/order/options.h"
#include "pipeline/stats/bad_record.h"
#include "records/bytes/append_file.h"

namespace infeed {

// The file of options.bad_record_report: one JSON object a line for each bad
// record, docs/bad_records.md. Lines are appended to what is there, so that a
// resumed run goes on with its report, and are on their way to the disk when
// Add() returns: a run that is killed leaves them.
//
// Owns the open file, if there is one. One thread at a time. Throws IoError;
// already the constructor, where the file cannot be written.
class BadRecordReport {
 public:
  // Requires: options are checked.
  explicit BadRecordReport(const InputOptions& options);

  // Appends their lines, all in one piece.
  void Add(std::span<const BadRecord> records);

  // Where the lines are; empty: nowhere.
  [[nodiscard]] std::string path() const {
    return file_ ? file_->path() : std::string();
  }

 private:
  std::optional<AppendFile> file_;
};

// A report's line, with its end.
[[nodiscard]] std::string BadRecordLine(const BadRecord& bad);

// The file for these options: each of several ranks has one of its own,
// "NAME.rank3".
[[nodiscard]] std::string BadRecordReportPath(const InputOptions& options);

}  // namespace infeed
