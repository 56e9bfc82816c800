#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/order/keyed_permutation.h"
#include "pipeline/order/window_order.h"
#include "records/store/record_index.h"

namespace infeed {

// For more records PyTorch uses another algorithm, with 64-bit random words.
inline constexpr std::int64_t kMostTorchRecords =
    std::numeric_limits<std::uint32_t>::max() / 20 - 1;

// torch.randperm(records) of PyTorch's CPU generator after manual_seed(seed +
// epoch): the order in which its DistributedSampler goes through an epoch.
// Swaps each place with a later one or itself, chosen by a word of the Mersenne
// Twister; only the seed's lower 32 bits count. Needs four bytes per record.
// Requires: 0 <= records <= kMostTorchRecords.
[[nodiscard]] std::vector<std::uint32_t> TorchOrder(std::int64_t records,
                                                    std::uint64_t seed,
                                                    std::uint32_t epoch);

// Where a sample is in the stream. Its epoch and position determine its random
// draws.
struct SamplePlace {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;  // in the epoch
  std::int64_t place = 0;     // in the epoch's order, which has the record

  friend bool operator==(const SamplePlace&, const SamplePlace&) = default;
};

// One epoch's order: a SampleOrder's settings with the epoch's keys and tables
// computed. Copies share the tables. Const members may be called from several
// threads at once.
class EpochOrder {
 public:
  // Returns the record at a position in [0, places).
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;
  // Replaces positions by their records: faster for many.
  void ToRecords(std::span<std::int64_t> positions) const;

 private:
  friend class SampleOrder;

  struct OwnOrder {};
  using Table = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Windows = std::shared_ptr<const WindowOrder>;

  std::int64_t places_ = 0;
  int crops_ = 1;  // places of each record, one after another
  std::variant<OwnOrder, KeyedPermutation, Windows, Table> order_;
  std::shared_ptr<const Selection> selection_;  // null: place i holds record i
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
};

// Maps a place of an epoch's order to a record: a function of (seed, epoch,
// position) alone. none: the records' own order; global: a KeyedPermutation of
// all records; window: a WindowOrder; torch: a table that is computed as the
// epoch begins (TorchOrder()). With a selection the order is over the
// selection's places. docs/order.md describes all orders.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for more records than an order can hold, a selection with
// records beyond the data set, and a selection that this order does not
// support.
class SampleOrder {
 public:
  // shard_sizes: records of each shard. Requires: options are checked.
  SampleOrder(std::vector<std::int64_t> shard_sizes,
              const InputOptions& options);

  // The order of a single shard.
  SampleOrder(std::int64_t records, Shuffle shuffle, std::uint64_t seed);

  // Returns an epoch's order. Requires: there are records.
  [[nodiscard]] EpochOrder Epoch(std::uint32_t epoch) const;

  // The places of an epoch: all records, or those of the selection; in an
  // evaluation times crop.eval_crops.
  [[nodiscard]] std::int64_t places() const { return places_; }

 private:
  void CheckSelection(std::int64_t max_records) const;

  std::vector<std::int64_t> shard_sizes_;
  std::shared_ptr<const Selection> selection_;
  std::int64_t records_;
  int crops_;
  std::int64_t places_;
  Shuffle shuffle_;
  OrderWindow window_;
  std::uint64_t seed_;
};

// Caches the order of the last requested epoch. The SampleOrder must outlive
// it. One thread at a time.
class CurrentEpoch {
 public:
  explicit CurrentEpoch(const SampleOrder& order) : order_(order) {}

  // Returns an epoch's order, valid until another epoch is requested.
  [[nodiscard]] const EpochOrder& Of(std::uint32_t epoch);
  // Returns the record at a sample's place.
  [[nodiscard]] std::int64_t RecordOf(const SamplePlace& sample) {
    return Of(sample.epoch).RecordAt(sample.place);
  }

 private:
  const SampleOrder& order_;
  std::uint32_t epoch_ = 0;
  std::optional<EpochOrder> current_;  // of epoch_
};

// The number of records of each shard, counting only the first max_records of
// the data set; 0: all.
[[nodiscard]] std::vector<std::int64_t> ShardSizes(const RecordIndex& index,
                                                   std::int64_t max_records);

}  // namespace infeed
