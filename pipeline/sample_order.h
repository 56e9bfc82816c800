#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "pipeline/keyed_permutation.h"
#include "pipeline/options.h"
#include "pipeline/window_order.h"
#include "records/record_index.h"

namespace infeed {

// One epoch's order: what SampleOrder knows, with the epoch's keys and tables
// worked out. Cheap to copy beside them. Const members may be called from
// several threads at once.
class EpochOrder {
 public:
  // Returns the record at a position in [0, records).
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;

 private:
  friend class SampleOrder;

  struct OwnOrder {};
  using Table = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Windows = std::shared_ptr<const WindowOrder>;

  std::int64_t records_ = 0;
  std::variant<OwnOrder, KeyedPermutation, Windows, Table> order_;
};

// Which record stands at a place of an epoch's order: a function of (seed,
// epoch, position) alone. none: the records' own order; global: a
// KeyedPermutation of all records; window: a WindowOrder; reference: a table
// that is computed as the epoch begins (ReferenceOrder()). docs/order.md has
// them all.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for 2^32 records and more.
class SampleOrder {
 public:
  // shard_sizes: records of each shard. Requires: options are checked.
  SampleOrder(std::vector<std::int64_t> shard_sizes,
              const InputOptions& options);

  // The same of one shard.
  SampleOrder(std::int64_t records, Shuffle shuffle, std::uint64_t seed);

  // Returns an epoch's order. Requires: there are records.
  [[nodiscard]] EpochOrder Epoch(std::uint32_t epoch) const;

  // Returns the record at a position in [0, records): for few of them, as each
  // call works the epoch out.
  [[nodiscard]] std::int64_t RecordAt(std::uint32_t epoch,
                                      std::int64_t position) const;

  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  std::vector<std::int64_t> shard_sizes_;
  std::int64_t records_;
  Shuffle shuffle_;
  OrderWindow window_;
  std::uint64_t seed_;
};

// The records of each shard, as far as they are among the first max_records of
// all; 0: all of them.
[[nodiscard]] std::vector<std::int64_t> ShardSizes(const RecordIndex& index,
                                                   std::int64_t max_records);

}  // namespace infeed
