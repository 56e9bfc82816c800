#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// How far shuffle=window reaches.
struct OrderWindow {
  int shards = 16;     // interleaved at once; > 0
  int records = 4096;  // shuffled among each other; > 0
};

// One epoch's order for data that is best read forwards. Three steps:
//
//   1. The shards are permuted (domain kShardDomain).
//   2. Each window.shards consecutive ones are interleaved: a round takes one
//      record of each that still has some, the largest shard first (of equal
//      ones the earlier), so that those that are left are a prefix.
//   3. Each window.records consecutive places are permuted among themselves
//      (domain kBlockDomain + number of the block; the last one is shorter).
//
// So the records that a block takes from a shard are neighbours there, and
// follow those that an earlier block took. A place costs two binary searches
// and a permutation; the tables have an entry for each shard.
//
// Const members may be called from several threads at once.
class WindowOrder {
 public:
  // shard_sizes: records of each. Requires: they sum to less than 2^32, and not
  // to 0.
  WindowOrder(std::span<const std::int64_t> shard_sizes,
              const OrderWindow& window, std::uint64_t seed,
              std::uint32_t epoch);

  // Returns the record at a position, both from 0 and below the shards' sum.
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;

 private:
  struct Shard {
    std::int64_t first = 0;  // its first record
    std::int64_t size = 0;   // records
    std::int64_t end = 0;    // the place at which its records are used up
  };
  // The record at a place before step 3.
  [[nodiscard]] std::int64_t Interleaved(std::int64_t place) const;
  // Sorts a group, and finds its shards' ends.
  void PlanGroup(std::span<Shard> group, std::int64_t start);

  OrderWindow window_;
  std::uint64_t seed_;
  std::uint32_t epoch_;
  std::vector<Shard> shards_;         // in groups; of each the largest first
  std::vector<std::int64_t> starts_;  // each group's first place, and the end
};

}  // namespace infeed
