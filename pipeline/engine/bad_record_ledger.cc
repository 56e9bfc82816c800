#include "pipeline/engine/bad_record_ledger.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/own_files.h"
#include "records/bytes/json.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

void PutPlace(const DataError::Origin& origin, Json& json) {
  json["file"] = origin.path;
  json["record"] = origin.record;
  json["offset"] = origin.offset;
}

// Fewer samples are too few to estimate a rate.
constexpr std::int64_t kSamplesForARate = 1000;

std::string Short(double number) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%g", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string Samples(const BadRecordTotals& totals) {
  return std::to_string(totals.bad_samples) + " of " +
         std::to_string(totals.samples) + " samples so far";
}

std::string WhereListed(const BadRecordReport& report) {
  const std::string path = report.path();
  return path.empty() ? "" : "; " + path + " lists them";
}

}  // namespace

std::string BadRecordLine(const BadRecord& bad) {
  Json json = {{"epoch", bad.epoch}, {"position", bad.position}};
  if (bad.draw > 0) {
    json["draw"] = bad.draw;
  }
  PutPlace(bad.error.origin(), json);
  json["kind"] = BadRecordKindName(bad.kind);
  json["action"] = BadRecordActionName(bad.action);
  if (bad.action == BadRecordAction::kReplaced) {
    PutPlace(bad.replaced_by, json["by"]);
  }
  json["reason"] = bad.error.reason();
  // Paths and messages may contain invalid UTF-8.
  return JsonText(json) + "\n";
}

std::string BadRecordReportPath(const InputOptions& options) {
  return options.world_size == 1 ? options.bad_record_report
                                 : options.bad_record_report + ".rank" +
                                       std::to_string(options.rank);
}

BadRecordReport::BadRecordReport(const InputOptions& options) {
  if (!options.bad_record_report.empty()) {
    RequireParentFolder(options.bad_record_report);
    file_.emplace(BadRecordReportPath(options),
                  options.world_size == 1 ? kNamedByUser : 1);
  }
}

void BadRecordReport::Add(std::span<const BadRecord> records) {
  if (!file_ || records.empty()) {
    return;
  }
  std::string lines;
  for (const BadRecord& bad : records) {
    lines += BadRecordLine(bad);
  }
  file_->Append(lines);
}

BadRecordLedger::BadRecordLedger(const InputOptions& options,
                                 std::int64_t batches_per_epoch)
    : batches_per_epoch_(batches_per_epoch),
      needs_good_(options.world_size == 1 &&
                  (options.require_labels || !ReadsLabels(options))),
      report_(options),
      on_bad_(options.on_bad) {
  totals_.max_different = options.max_bad_records;
  totals_.max_rate = options.max_bad_rate;
}

void BadRecordLedger::Enter(std::span<const BadRecord> bad, int samples) {
  std::optional<DataError> error;
  listed_.clear();
  {
    const std::lock_guard lock(mutex_);
    ++batches_;
    totals_.samples += samples;
    not_skipped_ += samples;
    for (const BadRecord& one : bad) {
      if (Count(one)) {
        listed_.push_back(one);
      }
      // With policy kFail the bad record's own error ends the stream.
      if (IsOverNumber() && one.action != BadRecordAction::kFailed) {
        error = OverNumber();
        break;
      }
    }
    if (!error && IsOverRate()) {
      error = OverRate();
    }
    if (EndsBadEpoch() && !error) {
      error = NoneGood();
    }
  }
  report_.Add(listed_);
  for (std::size_t i = 0; on_bad_ && i < bad.size(); ++i) {
    on_bad_(bad[i]);
  }
  if (error) {
    throw DataError(*error);
  }
}

bool BadRecordLedger::Count(const BadRecord& bad) {
  switch (bad.kind) {
    case BadRecordKind::kFrame:
      ++totals_.frames;
      break;
    case BadRecordKind::kExample:
      ++totals_.examples;
      break;
    case BadRecordKind::kLabel:
      ++totals_.labels;
      break;
    case BadRecordKind::kImage:
      ++totals_.images;
      break;
    case BadRecordKind::kWarning:
      return CountWarning(bad);
  }
  if (!last_) {
    totals_.first = bad.error.what();
  }
  last_ = bad.error;
  const bool is_own = bad.draw == 0;
  totals_.bad_samples += is_own ? 1 : 0;
  not_skipped_ -= is_own && bad.action == BadRecordAction::kSkipped ? 1 : 0;
  const bool is_new = bad_.insert(bad.record).second;
  totals_.different += is_new ? 1 : 0;
  return is_new || bad.action == BadRecordAction::kFailed;
}

bool BadRecordLedger::CountWarning(const BadRecord& bad) {
  if (totals_.warnings++ == 0) {
    totals_.first_warning = bad.error.what();
  }
  return warned_.insert(bad.record).second;
}

bool BadRecordLedger::IsOverNumber() const {
  return totals_.max_different >= 0 &&
         totals_.different > totals_.max_different;
}

bool BadRecordLedger::IsOverRate() const {
  const bool is_told =
      totals_.samples >= kSamplesForARate || batches_ >= batches_per_epoch_;
  return is_told && static_cast<double>(totals_.bad_samples) >
                        totals_.max_rate * static_cast<double>(totals_.samples);
}

bool BadRecordLedger::EndsBadEpoch() {
  if (batches_ % batches_per_epoch_ != 0) {
    return false;
  }
  const bool has_good = std::exchange(not_skipped_, 0) > 0;
  return needs_good_ && !has_good;
}

DataError BadRecordLedger::OverNumber() const {
  return {last_->origin(), last_->reason() + "; it is bad record number " +
                               std::to_string(totals_.different) +
                               ", and max_bad_records is " +
                               std::to_string(totals_.max_different) + " (" +
                               Samples(totals_) + ")" + WhereListed(report_)};
}

DataError BadRecordLedger::OverRate() const {
  return {last_->origin(),
          last_->reason() + "; with it " + Samples(totals_) +
              " are bad, a larger share than max_bad_rate " +
              Short(totals_.max_rate) + " (different records: " +
              std::to_string(totals_.different) + ")" + WhereListed(report_)};
}

DataError BadRecordLedger::NoneGood() const {
  return {last_->origin(),
          last_->reason() + "; the epoch has no good record (" +
              Samples(totals_) + " are bad)" + WhereListed(report_)};
}

BadRecordTotals BadRecordLedger::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace infeed
