#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace infeed {

// Which station found a record bad.
enum class BadRecordKind {
  kFrame,    // its frame: a checksum, a length, an end that is missing
  kExample,  // what is in it is no Example, or one of another kind
  kLabel,    // it has no label, or none of a class
  kImage,    // its image cannot be decoded, or is over a limit
  kWarning,  // not bad: used in spite of a warning, as options.lenient asks
};

// What was done about it.
enum class BadRecordAction {
  kFailed,    // it ended the stream
  kReplaced,  // another record is in its place
  kSkipped,   // its slot is blank
  kUsed,      // it is in the batch all the same
};

// "frame", "example", "label", "image", "warning"; "failed", "replaced",
// "skipped", "used".
[[nodiscard]] std::string_view BadRecordKindName(BadRecordKind kind);
[[nodiscard]] std::string_view BadRecordActionName(BadRecordAction action);

// A bad record as a sample of a batch met it.
struct BadRecord {
  int slot = 0;
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  // 0: the record that the order puts there; k: the k-th substitute for it.
  int draw = 0;
  std::int64_t record = 0;  // in the index
  BadRecordKind kind = BadRecordKind::kFrame;
  BadRecordAction action = BadRecordAction::kFailed;
  DataError error{""};                 // with its place
  DataError::Origin replaced_by = {};  // the record that was used instead
};

// What the bad records of a stream add up to, in the batches that have been
// whole so far.
struct BadRecordTotals {
  std::int64_t samples = 0;      // of those batches, padding left out
  std::int64_t bad_samples = 0;  // whose own record was bad
  std::int64_t different = 0;    // bad records, each counted once
  // Times that a record was bad, substitutes and repeats included.
  std::int64_t frames = 0;
  std::int64_t examples = 0;
  std::int64_t labels = 0;
  std::int64_t images = 0;
  std::string first = {};  // the first one's message
  // Images used in spite of a warning.
  std::int64_t warnings = 0;
  std::string first_warning = {};  // its place and message
  // The budgets: different records, -1 for any number; share of the samples.
  std::int64_t max_different = -1;
  double max_rate = 1;

  [[nodiscard]] std::int64_t met() const {
    return frames + examples + labels + images;
  }
};

}  // namespace infeed
