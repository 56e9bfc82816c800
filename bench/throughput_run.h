#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/memory_plan.h"
#include "pipeline/options.h"
#include "pipeline/stats.h"
#include "records/record_index.h"

namespace infeed {

struct ThroughputOptions {
  InputOptions input;              // its threads are those of each run
  std::vector<int> threads = {0};  // a run for each; 0: one for each core
  double seconds = 10;             // of each round, after its first batch
  int rounds = 3;                  // of every run, interleaved
};

// All rounds with one number of threads.
struct ThroughputRun {
  int threads = 0;
  std::vector<double> images_per_second = {};  // of each round, sorted
  PipelineStats stats = {};                    // of the median round
  MemoryPlan memory = {};                      // what it can take

  [[nodiscard]] double median() const {
    return images_per_second[images_per_second.size() / 2];
  }
};

// Called after each round: the round from 1, its threads and images per second.
using RoundSink = std::function<void(int, int, double)>;

// Measures how fast batches come when nobody does anything with them. The runs
// take turns, so that a change of the machine's speed meets all of them. A
// round's rate leaves its first batch out; a stream that ends ends its round.
[[nodiscard]] std::vector<ThroughputRun> MeasureThroughput(
    const RecordIndex& index, const ThroughputOptions& options,
    const RoundSink& sink);

// Returns the SHA-256 of the first `batches` batches, fewer when the stream
// ends before.
[[nodiscard]] std::string HashStream(const RecordIndex& index,
                                     const InputOptions& options,
                                     std::int64_t batches);

}  // namespace infeed
