#include "bench/cluster/order_locality.h"

#include <optional>
#include <set>
#include <vector>

#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/prefetcher.h"
#include "records/store/read_plan.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// The places of records of one size in shards with an equal number of records
// each; the remaining records are in the last shard.
class EvenShards {
 public:
  explicit EvenShards(const ClusterSpec& spec)
      : record_bytes_(spec.record_bytes),
        per_shard_((spec.records + spec.shards - 1) / spec.shards),
        records_(spec.records) {}

  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> sizes(
        static_cast<std::size_t>(records_ / per_shard_), per_shard_);
    if (records_ % per_shard_ > 0) {
      sizes.push_back(records_ % per_shard_);
    }
    return sizes;
  }

  [[nodiscard]] RecordLocation at(std::int64_t record) const {
    const std::int64_t number = record % per_shard_;
    return {.shard = static_cast<std::int32_t>(record / per_shard_),
            .number = number,
            .offset = number * record_bytes_,
            .length =
                record_bytes_ - static_cast<std::int64_t>(kFrameOverheadBytes)};
  }

 private:
  std::int64_t record_bytes_;
  std::int64_t per_shard_;
  std::int64_t records_;
};

// The shards that the machine's ranks read, for each batch.
using BatchShards = std::vector<std::set<std::int32_t>>;

void WalkRank(const EvenShards& shards, const InputOptions& options,
              OrderLocality& locality, BatchShards& of_batches) {
  const SampleOrder order(shards.sizes(), options);
  Prefetcher batches(
      order, BatchSequence(order.places(), options, {}),
      {.batches = options.prefetch_batches,
       .block_positions =
           options.shuffle == Shuffle::kWindow ? options.window_records : 1},
      [&](const std::vector<std::int64_t>& records) {
        std::vector<RecordLocation> locations;
        locations.reserve(records.size());
        for (const std::int64_t record : records) {
          locations.push_back(shards.at(record));
        }
        locality.reads += std::ssize(PlanReads(locations));
      });
  for (std::set<std::int32_t>& of_batch : of_batches) {
    const std::optional<PlannedBatch> batch = batches.Next();
    for (const std::int64_t record : batch->records) {
      of_batch.insert(shards.at(record).shard);
      ++locality.records;
    }
  }
}

}  // namespace

OrderLocality MeasureLocality(const ClusterSpec& spec, int machines,
                              Shuffle shuffle) {
  const TrainingCost training = ComputeTrainingCost(spec, machines);
  const EvenShards shards(spec);
  OrderLocality locality;
  BatchShards of_batches(static_cast<std::size_t>(training.steps));
  for (int rank = 0; rank < spec.devices; ++rank) {
    WalkRank(
        shards,
        CheckedInputOptions({.batch_size = static_cast<int>(training.batch),
                             .rank = rank,
                             .world_size = training.ranks,
                             .repeat = 1,
                             .shuffle = shuffle}),
        locality, of_batches);
  }
  std::set<std::int32_t> of_epoch;
  for (const std::set<std::int32_t>& of_batch : of_batches) {
    of_epoch.insert(of_batch.begin(), of_batch.end());
    locality.shards_of_batch += static_cast<double>(of_batch.size()) /
                                static_cast<double>(of_batches.size());
  }
  locality.shards_of_epoch = std::ssize(of_epoch);
  return locality;
}

}  // namespace infeed
