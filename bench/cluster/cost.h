#pragma once

#include <cstdint>

#include "trainer/model/options.h"

// The resources that a training run needs, by the formulas of
// docs/internals/scale.md: how much each machine reads, stores and sends.
namespace infeed {

// The inputs of the formulas. All > 0.
struct ClusterSpec {
  std::int64_t records = 1'281'167;  // ImageNet's
  std::int64_t record_bytes = 110'000;
  std::int64_t shards = 1'024;
  std::int64_t evaluated = 50'000;  // images per evaluation
  int devices = 8;                  // per machine, each a rank
  double device_rate = 2'500;       // images/s of a device that never waits
  int largest_part = 256;           // most images of a batch on a device
  int largest_batch = 65'536;       // most images that still train well
  double core_rate = 4'000;         // images/s decoded by a core
  double link_rate = 12.5e9;        // bytes/s per machine, in each direction
  double answer_seconds = 0.03;     // until an object store's answer begins
  double page_cache_bytes = 256e9;  // of a machine
  int epochs = 90;
  ModelOptions model = {};
  int image_size = 224;
};

// The cost of the training steps.
struct TrainingCost {
  int ranks = 0;
  int part = 0;                     // images of a batch on a device
  std::int64_t batch = 0;           // images on all devices
  std::int64_t steps = 0;           // whole batches of an epoch
  double device_seconds = 0;        // of a step, if it were alone
  std::int64_t gradient_bytes = 0;  // sent by a rank in a step
  std::int64_t ring_messages = 0;   // in sequence, to sum a bucket
  double exchange_seconds = 0;      // of a step, between machines
  double images_per_second = 0;     // of all, at the longer of both
};

// The cost of the input at that speed.
struct InputCost {
  double images_per_second = 0;  // of a machine
  double bytes_per_second = 0;   // of a machine, nothing cached
  double connections = 0;        // per rank, with a request per image
  double cores = 0;              // of a machine
};

// The memory of a machine, and the size of a checkpoint.
struct MemoryCost {
  std::int64_t index_bytes = 0;
  std::int64_t batch_bytes = 0;
  std::int64_t checkpoint_bytes = 0;
};

// Rank 0's work for the other ranks.
struct StarCost {
  int connections = 0;
  double beats_per_second = 0;        // heartbeats received
  std::int64_t loop_bytes = 0;        // sent after a loop
  std::int64_t evaluation_bytes = 0;  // sent, at most
};

// Requires: machines > 0.
[[nodiscard]] TrainingCost ComputeTrainingCost(const ClusterSpec& spec,
                                               int machines);
[[nodiscard]] InputCost ComputeInputCost(const ClusterSpec& spec, int machines);
[[nodiscard]] MemoryCost ComputeMemoryCost(const ClusterSpec& spec,
                                           int machines);
[[nodiscard]] StarCost ComputeStarCost(const ClusterSpec& spec, int machines);

// The share of its reads in an epoch (from 0) that a machine finds in its page
// cache, with shuffle=global: records that it read in an earlier epoch and
// still caches.
[[nodiscard]] double CachedShare(const ClusterSpec& spec, int machines,
                                 int epoch);

// Bytes that all machines together read from storage over all epochs.
[[nodiscard]] double StorageBytes(const ClusterSpec& spec, int machines);

}  // namespace infeed
