#pragma once

#include <cstdint>

#include "trainer/model/options.h"

// What a training asks of its machines, by the formulas of docs/scale.md: how
// much each of them reads, keeps and sends.
namespace infeed {

// What is given. All > 0.
struct ClusterSpec {
  std::int64_t records = 1'281'167;  // ImageNet's
  std::int64_t record_bytes = 110'000;
  std::int64_t shards = 1'024;
  std::int64_t evaluated = 50'000;  // images of an evaluation
  int devices = 8;                  // of a machine, each a rank
  double device_rate = 2'500;       // images/s of one that waits for nothing
  int largest_part = 256;           // images that a device takes of a batch
  int largest_batch = 65'536;       // images that still train well
  double core_rate = 4'000;         // images/s that a core decodes
  double link_rate = 12.5e9;        // bytes/s of a machine, each way
  double answer_seconds = 0.03;     // until a store's answer begins
  double page_cache_bytes = 256e9;  // of a machine
  int epochs = 90;
  ModelOptions model = {};
  int image_size = 224;
};

// Of the training itself.
struct TrainingCost {
  int ranks = 0;
  int part = 0;                     // images of a batch on a device
  std::int64_t batch = 0;           // of all
  std::int64_t steps = 0;           // whole batches of an epoch
  double device_seconds = 0;        // of a step, were there no others
  std::int64_t gradient_bytes = 0;  // that a rank sends in a step
  std::int64_t ring_messages = 0;   // one after the other, to sum a bucket
  double exchange_seconds = 0;      // of a step, between machines
  double images_per_second = 0;     // of all, at the longer of both
};

// Of its input, at that speed.
struct InputCost {
  double images_per_second = 0;  // of a machine
  double bytes_per_second = 0;   // of a machine, nothing cached
  double connections = 0;        // of a rank, an image a request
  double cores = 0;              // of a machine
};

// Of memory, a machine's, but for the checkpoint.
struct MemoryCost {
  std::int64_t index_bytes = 0;
  std::int64_t batch_bytes = 0;
  std::int64_t checkpoint_bytes = 0;
};

// What rank 0 has to do for the others.
struct StarCost {
  int connections = 0;
  double beats_per_second = 0;        // signs of life that it hears
  std::int64_t loop_bytes = 0;        // that it sends after a loop
  std::int64_t evaluation_bytes = 0;  // that it sends, at most
};

// Requires: machines > 0.
[[nodiscard]] TrainingCost TrainingCostOf(const ClusterSpec& spec,
                                          int machines);
[[nodiscard]] InputCost InputCostOf(const ClusterSpec& spec, int machines);
[[nodiscard]] MemoryCost MemoryCostOf(const ClusterSpec& spec, int machines);
[[nodiscard]] StarCost StarCostOf(const ClusterSpec& spec, int machines);

// Which share of its reads a machine finds in its page cache in an epoch, from
// 0, of shuffle=global: it has seen a record in one of the epochs before, and
// has kept it.
[[nodiscard]] double CachedShare(const ClusterSpec& spec, int machines,
                                 int epoch);

// Bytes that storage gives all machines together over all epochs.
[[nodiscard]] double StorageBytes(const ClusterSpec& spec, int machines);

}  // namespace infeed
