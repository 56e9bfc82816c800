#pragma once

#include <cstdint>
#include <string>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

struct SoakOptions {
  int batch_size = 32;
  int image_size = 64;
  std::string bad_record_report;  // a file for this only; each cycle removes it
};

// What a soak test has done so far.
struct SoakCounts {
  std::int64_t cycles = 0;
  std::int64_t images = 0;
  std::int64_t resumed = 0;  // streams resumed from their state
  std::int64_t bad_records = 0;
};

// Runs a short-lived pipeline with options drawn from the cycle's number: a
// policy, a shuffle, a recipe, threads or the basic graph, training or
// evaluation, with or without a limit of pixels that makes larger images bad.
// Takes some batches, saves the state, and resumes the stream in a pipeline
// with other threads, which is then stopped from another thread. Throws
// DataError when the resumed stream does not continue with the same batch.
void RunSoakCycle(const RecordIndex& index, const SoakOptions& options,
                  std::int64_t cycle, SoakCounts& counts);

}  // namespace infeed
