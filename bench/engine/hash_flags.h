#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace CLI {
class App;
}

namespace infeed {

// What to take of a stream in place of a measurement.
struct HashFlags {
  std::int64_t batches = 0;  // 0: measure
  std::string save_state;    // files; empty: none
  std::string restore;
  std::int64_t order = 0;  // batches; 0: measure
};

// --hash, --save_state, --restore and --order.
void AddHashFlags(CLI::App& app, HashFlags& flags);

// Prints the SHA-256 of the stream's batches with each number of threads, a
// line each, from where --restore says that it goes on, and writes the state
// behind them to --save_state. Throws as ResumePosition() and InputPipeline do.
void PrintHashes(const RecordIndex& index, const InputOptions& options,
                 std::span<const int> threads, const HashFlags& flags);

// Prints which records the stream's batches are made of, or this rank's part of
// them: a line a batch, records by their numbers from 0. Throws as
// InputPipeline does, but reads no record.
void PrintOrder(const RecordIndex& index, const InputOptions& options,
                const HashFlags& flags);

}  // namespace infeed
