#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/stats/stats.h"

namespace infeed {

// What keeps a run from being faster.
enum class Bound {
  kUnknown,    // too short to tell, or the threads do not get their cores
  kConsumer,   // the device: its input is there before it asks
  kWorkers,    // the threads are busy, most of all in one stage
  kPool,       // the threads wait for free batches, and the device for full
  kNoOverlap,  // GraphKind::kBasic: nothing is done while the device works
};

// "unknown", "consumer", "workers", "pool", "no_overlap".
[[nodiscard]] std::string_view BoundName(Bound bound);

// What a snapshot says about that, in numbers. Shares are in 0..1. The device
// is whoever takes the batches.
struct Bottleneck {
  Bound bound = Bound::kUnknown;
  std::string stage;       // of most work: read, decode, resize or augment
  double stage_share = 0;  // its part of the work
  double busy_share = 0;   // of the threads' time
  double device_wait_share = 0;  // of the time after the first batch
  // What one core as busy as these makes: the reciprocal of all stages' work on
  // an image. None where no work was counted.
  std::optional<double> images_per_core;
  // Images a second of the time in which the device did not wait, both after
  // its first batch. None without a device, or where it waited all the time:
  // then nothing was done with the batches.
  std::optional<double> device_rate;
  // How many more cores as busy as these would feed the device, if work grew
  // with cores, which it does at best. 0 where it is fed.
  std::optional<double> cores_needed;
  double outside_share = 0;  // of decoded pixels, outside of the crops
  double storage_share = 0;  // of bytes read, from disks: not in the page cache
  double bad_share = 0;      // of samples, whose record was bad
};

[[nodiscard]] Bottleneck BottleneckOf(const PipelineStats& stats);

}  // namespace infeed
