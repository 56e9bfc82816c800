#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bench/common/cpu_counters.h"
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

}  // namespace infeed
