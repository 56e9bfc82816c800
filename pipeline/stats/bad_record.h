#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace infeed {

// The stage that found a record bad.
enum class BadRecordKind {
  kFrame,    // its frame: a checksum, a length, or a missing end
  kExample,  // its payload is not an Example of an image
  kLabel,    // its label is missing or outside the classes
  kImage,    // its image cannot be decoded, or is over a limit
  kWarning,  // not bad: used in spite of a warning, as `lenient` asks
};

// How a bad record was handled.
enum class BadRecordAction {
  kFailed,    // it ended the stream
  kReplaced,  // another record took its place
  kSkipped,   // its slot was left blank
  kUsed,      // it is in the batch all the same
};

// "frame", "example", "label", "image", "warning"; "failed", "replaced",
// "skipped", "used".
[[nodiscard]] std::string_view BadRecordKindName(BadRecordKind kind);
[[nodiscard]] std::string_view BadRecordActionName(BadRecordAction action);

// A bad record met by a sample of a batch.
struct BadRecord {
  int slot = 0;
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  // 0: the record of the sample's position; k: its k-th substitute.
  int draw = 0;
  std::int64_t record = 0;  // in the index
  BadRecordKind kind = BadRecordKind::kFrame;
  BadRecordAction action = BadRecordAction::kFailed;
  DataError error{""};                 // with its place
  DataError::Origin replaced_by = {};  // the record that was used instead
};

// Totals of a stream's bad records, over the batches completed so far.
struct BadRecordTotals {
  std::int64_t samples = 0;      // of these batches, without padding
  std::int64_t bad_samples = 0;  // samples with a bad record of their own
  std::int64_t different = 0;    // bad records, each counted once
  // How often a record of each kind was bad, substitutes and repeats included.
  std::int64_t frames = 0;
  std::int64_t examples = 0;
  std::int64_t labels = 0;
  std::int64_t images = 0;
  std::string first = {};  // message of the first
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
