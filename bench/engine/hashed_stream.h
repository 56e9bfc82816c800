#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace CLI {
class App;
}

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

// Flags that print a stream's hash or order instead of measuring.
struct HashFlags {
  std::int64_t batches = 0;  // 0: measure
  std::string save_state;    // files; empty: none
  std::string restore;
  std::int64_t order = 0;  // batches; 0: no order
};

// Adds --hash, --save_state, --restore and --order.
void AddHashFlags(CLI::App& app, HashFlags& flags);

// Prints the SHA-256 of the stream's batches, a line for each number of
// threads, beginning at the state in --restore, and writes the state after
// these batches to --save_state. Throws what ResumeState() and InputPipeline
// throw.
void PrintHashes(const RecordIndex& index, const InputOptions& options,
                 std::span<const int> threads, const HashFlags& flags);

// Prints the records of (this rank's part of) the stream's batches: a line per
// batch, with record numbers from 0. Throws what InputPipeline throws, but
// reads no record.
void PrintOrder(const RecordIndex& index, const InputOptions& options,
                const HashFlags& flags);

}  // namespace infeed
