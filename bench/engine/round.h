#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bench/common/cpu_counters.h"
#include "pipeline/order/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/stats/cpu_load.h"
#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"

namespace infeed {

struct RoundOptions {
  double seconds = 10;     // after the first batch
  double device_rate = 0;  // images/s that are taken at most; 0: all there are
  LiveStats* live = nullptr;  // is shown the pipeline; may be null
  // Told now and then how much of the seconds is over.
  std::function<void(double)> progress = [](double) {};
};

// What one measurement found.
struct ThroughputRound {
  double images_per_second = 0;
  std::int64_t images = 0;  // that cpu is about
  CpuUse cpu = {};
  double input_wait = 0;  // share of the device's time; only with a device
  PipelineStats stats = {};
  MemoryPlan memory = {};  // what it can take; nothing for a stage alone
  std::optional<CpuLoad> load = {};  // of a whole pipeline
};

// Runs a pipeline for a while and takes its batches, a byte of each image. The
// first batch is left out of everything but the stats; a stream that ends ends
// the round.
[[nodiscard]] ThroughputRound MeasurePipeline(const RecordIndex& index,
                                              const InputOptions& input,
                                              const RoundOptions& options);

}  // namespace infeed
