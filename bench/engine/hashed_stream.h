#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace infeed {

// The contents of a stream's first batches.
struct HashedStream {
  std::string hash;              // SHA-256 (StreamHash): 64 hex digits
  std::string first_bad_record;  // its message; "": none
  std::string state;             // of the stream, after these batches
};

// Hashes a number of batches, or all if the stream ends before. fingerprint: of
// what came before the start. Throws what InputPipeline throws.
[[nodiscard]] HashedStream HashStream(const RecordIndex& index,
                                      const InputOptions& options,
                                      const StreamPosition& start,
                                      std::int64_t batches,
                                      std::uint64_t fingerprint = 0);

// The records of (this rank's part of) the stream's first batches, in the order
// of their slots. Throws what InputPipeline throws, but reads no record.
[[nodiscard]] std::vector<std::vector<std::int64_t>> RecordsOfBatches(
    const RecordIndex& index, const InputOptions& options,
    std::int64_t batches);

}  // namespace infeed
