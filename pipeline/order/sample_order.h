#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "pipeline/order/keyed_permutation.h"
#include "pipeline/order/options.h"
#include "pipeline/order/window_order.h"
#include "records/store/record_index.h"

namespace infeed {

// One epoch's order: what SampleOrder knows, with the epoch's keys and tables
// worked out. Cheap to copy beside them. Const members may be called from
// several threads at once.
class EpochOrder {
 public:
  // Returns the record at a position in [0, places).
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;

 private:
  friend class SampleOrder;

  struct OwnOrder {};
  using Table = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Windows = std::shared_ptr<const WindowOrder>;

  std::int64_t places_ = 0;
  std::variant<OwnOrder, KeyedPermutation, Windows, Table> order_;
  std::shared_ptr<const Selection> selection_;  // null: place i is record i
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
};

// Which record stands at a place of an epoch's order: a function of (seed,
// epoch, position) alone. none: the records' own order; global: a
// KeyedPermutation of all records; window: a WindowOrder; reference: a table
// that is computed as the epoch begins (ReferenceOrder()); torch: another one
// (TorchOrder()). Of a selection its places are ordered. docs/order.md has them
// all.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for more records than an order can hold, a selection of
// records that there are not, and one that this order cannot take.
class SampleOrder {
 public:
  // shard_sizes: records of each shard. Requires: options are checked.
  SampleOrder(std::vector<std::int64_t> shard_sizes,
              const InputOptions& options);

  // The same of one shard.
  SampleOrder(std::int64_t records, Shuffle shuffle, std::uint64_t seed);

  // Returns an epoch's order. Requires: there are records.
  [[nodiscard]] EpochOrder Epoch(std::uint32_t epoch) const;

  // Returns the record at a position in [0, places()): for few of them, as each
  // call works the epoch out.
  [[nodiscard]] std::int64_t RecordAt(std::uint32_t epoch,
                                      std::int64_t position) const;

  // Of an epoch: all records, or what is selected of them.
  [[nodiscard]] std::int64_t places() const { return places_; }

 private:
  void CheckSelection(std::int64_t max_records) const;

  std::vector<std::int64_t> shard_sizes_;
  std::shared_ptr<const Selection> selection_;
  std::int64_t records_;
  std::int64_t places_;
  Shuffle shuffle_;
  OrderWindow window_;
  std::uint64_t seed_;
};

// The order of the epoch that was asked for last, which is worked out once.
// The order must outlive it. One thread at a time.
class CurrentEpoch {
 public:
  explicit CurrentEpoch(const SampleOrder& order) : order_(order) {}

  // Valid until another epoch is asked for.
  [[nodiscard]] const EpochOrder& Of(std::uint32_t epoch);

 private:
  const SampleOrder& order_;
  std::uint32_t epoch_ = 0;
  std::optional<EpochOrder> current_;  // of epoch_
};

// The records of each shard, as far as they are among the first max_records of
// all; 0: all of them.
[[nodiscard]] std::vector<std::int64_t> ShardSizes(const RecordIndex& index,
                                                   std::int64_t max_records);

}  // namespace infeed
