#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/stats/stats.h"

namespace infeed {

// The part that limits a run's speed.
enum class Bound {
  kUnknown,    // too short a run, or the threads do not get their cores
  kConsumer,   // the device: its input is always ready
  kWorkers,    // the worker threads are busy, mostly in one stage
  kPool,       // the threads wait for free batches, and the device for full
  kNoOverlap,  // GraphKind::kBasic: no input work while the device works
};

// "unknown", "consumer", "workers", "pool", "no_overlap".
[[nodiscard]] std::string_view BoundName(Bound bound);

// A snapshot's bottleneck in numbers. Shares are in 0..1. "Device" is the
// consumer of the batches.
struct Bottleneck {
  Bound bound = Bound::kUnknown;
  std::string stage;       // with most work: read, decode, resize or augment
  double stage_share = 0;  // of all stages' work
  double busy_share = 0;   // of the threads' time
  double device_wait_share = 0;  // of the time after the first batch
  // Images per second of one core that is as busy as these: the reciprocal of
  // all stages' work on an image. None if no work was counted.
  std::optional<double> images_per_core;
  // Images divided by the seconds in which the device did not wait, both after
  // its first batch. None without a device, or if the device always waited:
  // then nothing was done with the batches.
  std::optional<double> device_rate;
  // Additional cores, as busy as these, that would feed the device, assuming
  // speed proportional to cores: the best case. 0 if the device does not wait;
  // none if it waits, and workers made all images.
  std::optional<double> cores_needed;
  // Images per second of an open input worker: all workers' images divided by
  // the seconds in which they were open. None if no worker has made one.
  std::optional<double> worker_rate;
  // Open workers that would feed the device beside the threads here:
  // (device_rate - images per second made here) / worker_rate. A worker that
  // idles lowers worker_rate: where the device does not wait, this is the
  // number of those that are open, not of those that would be enough. None if
  // device_rate or worker_rate is none.
  std::optional<double> workers_wanted;
  double outside_share = 0;  // of decoded pixels, those outside the crops
  double storage_share = 0;  // of bytes read, those not in the page cache
  double bad_share = 0;      // of samples, those with a bad record
};

[[nodiscard]] Bottleneck BottleneckOf(const PipelineStats& stats);

}  // namespace infeed
