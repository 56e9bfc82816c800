#pragma once

#include <cstdint>
#include <string>

#include "base/choices.h"
#include "records/store/file_records.h"
#include "records/tfrecord/compression.h"

namespace infeed {

inline constexpr Choices<IndexState, 3> kIndexStates = {
    {{"fresh", IndexState::kFresh},
     {"stale", IndexState::kStale},
     {"none", IndexState::kNone}}};

struct ShardSummary {
  std::int64_t records = 0;
  std::int64_t bytes = 0;  // of the file
  RecordFormat format = RecordFormat::kTfrecord;
  Compression compression = Compression::kNone;
  IndexState index = IndexState::kNone;
};

// Counts a shard's records in the fastest way: by its index, else by its frame
// headers, or, if it is compressed, by decompressing it. Throws IoError, and
// DataError for a broken frame or archive.
[[nodiscard]] ShardSummary SummariseShard(const std::string& path);

}  // namespace infeed
