#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/median.h"
#include "bench/engine/round.h"
#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"

namespace infeed {

struct ThroughputOptions {
  InputOptions input;              // its threads are those of each run
  std::vector<int> threads = {0};  // a run for each; 0: one for each core
  double seconds = 10;             // of each round, after its first batch
  int rounds = 3;                  // of every run, interleaved
  double device_rate = 0;          // images/s that are taken; 0: all
  LiveStats* live = nullptr;       // is shown each round; may be null
};

// All rounds with one number of threads.
struct ThroughputRun {
  int threads = 0;
  std::vector<double> images_per_second = {};  // of each round, sorted
  // Medians over the rounds; instructions only where there is a counter.
  double cpu_seconds_per_1000 = 0;
  std::optional<double> instructions_per_1000 = {};
  std::optional<double> input_wait = {};  // of the device, if there was one
  // Of the median round; of two middle ones, the faster.
  PipelineStats stats = {};
  MemoryPlan memory = {};  // what it can take
  std::optional<CpuLoad> load = {};

  [[nodiscard]] double median() const { return Median(images_per_second); }
  // From the slowest round to the fastest, as a share of the median.
  [[nodiscard]] double spread() const {
    return (images_per_second.back() - images_per_second.front()) / median();
  }
};

// Where a measurement is.
struct RunProgress {
  int round = 0;  // from 1
  int threads = 0;
  double seconds = 0;  // of the round
  // Images per second, once the round is over.
  std::optional<double> rate = {};
};
using RunSink = std::function<void(const RunProgress&)>;

// Measures one round with so many threads.
using RoundMaker =
    std::function<ThroughputRound(const InputOptions&, const RoundOptions&)>;

// Measures how fast images come. The runs take turns, so that a change of the
// machine's speed meets all of them.
[[nodiscard]] std::vector<ThroughputRun> MeasureThroughput(
    const RoundMaker& measure, const ThroughputOptions& options,
    const RunSink& sink);

}  // namespace infeed
