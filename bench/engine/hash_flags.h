#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace CLI {
class App;
}

namespace infeed {

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
