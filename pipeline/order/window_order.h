#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// The extent of shuffle=window.
struct OrderWindow {
  int shards = 16;     // shards interleaved at once; > 0
  int records = 4096;  // records in a shuffled block; > 0
};

// One epoch's order for storage that is best read forwards, in three steps:
//
//   1. The shards are permuted (domain kShardDomain).
//   2. Each window.shards consecutive ones are interleaved: a round takes one
//      record of each that still has some, the largest shard first (of equal
//      ones the earlier), so that those that are left are a prefix.
//   3. Each window.records consecutive places are permuted among themselves
//      (domain kBlockDomain + number of the block; the last one is shorter).
//
// So the records that a block takes from a shard are neighbours in the shard,
// and follow the records that earlier blocks took from it. Looking up a place
// costs two binary searches and a permutation; the tables have an entry per
// shard.
//
// Const members may be called from several threads at once.
class WindowOrder {
 public:
  // shard_sizes: records of each shard. Requires: their sum is > 0 and < 2^32.
  WindowOrder(std::span<const std::int64_t> shard_sizes,
              const OrderWindow& window, std::uint64_t seed,
              std::uint32_t epoch);

  // Returns the record at a position, both from 0 and below the shards' sum.
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;

 private:
  struct Shard {
    std::int64_t first = 0;  // its first record
    std::int64_t size = 0;   // records
    std::int64_t end = 0;    // place after its last record
  };
  // The record at a place before step 3.
  [[nodiscard]] std::int64_t Interleaved(std::int64_t place) const;
  // Sorts a group of shards and computes each shard's end.
  void PlanGroup(std::span<Shard> group, std::int64_t start);

  OrderWindow window_;
  std::uint64_t seed_;
  std::uint32_t epoch_;
  std::vector<Shard> shards_;         // in groups; of each the largest first
  std::vector<std::int64_t> starts_;  // each group's first place, and the end
};

}  // namespace infeed
