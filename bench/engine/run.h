#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/common/cpu_counters.h"
#include "bench/common/in_turns.h"
#include "pipeline/options/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/stats/cpu_load.h"
#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"

namespace infeed {

struct RoundOptions {
  double seconds = 10;        // after the first batch
  double device_rate = 0;     // images/s of a simulated device; 0: none
  LiveStats* live = nullptr;  // shows the pipeline; may be null
  // Called now and then with the elapsed seconds.
  std::function<void(double)> progress = [](double) {};
};

// The results of one measurement.
struct ThroughputRound {
  double images_per_second = 0;
  std::int64_t images = 0;  // counted with cpu
  CpuUse cpu = {};
  double input_wait = 0;  // share of the device's time, if any
  PipelineStats stats = {};
  MemoryPlan memory = {};            // all 0 for a single stage
  std::optional<CpuLoad> load = {};  // only of a whole pipeline
};

// Runs a pipeline for a while and takes its batches, reading a byte of each
// image. The first batch counts only in the stats; the round ends early if the
// stream ends.
[[nodiscard]] ThroughputRound MeasurePipeline(const RecordIndex& index,
                                              const InputOptions& input,
                                              const RoundOptions& options);

struct ThroughputOptions {
  InputOptions input;              // `threads` replaces its threads
  std::vector<int> threads = {0};  // a run for each; 0: one per core
  double seconds = 10;             // of each round, after its first batch
  int rounds = 3;                  // of every run, interleaved
  double device_rate = 0;          // images/s of a simulated device; 0: none
  LiveStats* live = nullptr;       // shows each round; may be null
};

// All rounds with one number of threads.
struct ThroughputRun {
  int threads = 0;
  std::vector<double> images_per_second = {};  // of each round, sorted
  // Medians over the rounds; instructions only if there is a counter.
  double cpu_seconds_per_1000 = 0;
  std::optional<double> instructions_per_1000 = {};
  std::optional<double> input_wait = {};  // of the device, if any
  // Statistics of the median round; of two middle rounds, the faster one.
  PipelineStats stats = {};
  MemoryPlan memory = {};  // of the pipeline
  std::optional<CpuLoad> load = {};

  [[nodiscard]] double median() const { return Median(images_per_second); }
  // Difference between the fastest and the slowest round, relative to the
  // median.
  [[nodiscard]] double spread() const {
    return (images_per_second.back() - images_per_second.front()) / median();
  }
};

// The progress of a measurement.
struct RunProgress {
  int round = 0;  // from 1
  int threads = 0;
  double seconds = 0;  // of the round
  // Images per second, once the round is over.
  std::optional<double> rate = {};
};
using RunSink = std::function<void(const RunProgress&)>;

// Measures one round with a number of threads.
using RoundMaker =
    std::function<ThroughputRound(const InputOptions&, const RoundOptions&)>;

// Measures the images per second. The runs take turns, so that a change of the
// machine's speed affects all of them.
[[nodiscard]] std::vector<ThroughputRun> MeasureThroughput(
    const RoundMaker& measure, const ThroughputOptions& options,
    const RunSink& sink);

}  // namespace infeed
