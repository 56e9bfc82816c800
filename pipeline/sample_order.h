#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/options.h"

namespace infeed {

// One epoch's order: what SampleOrder knows, with the epoch's keys worked out.
// Const members may be called from several threads at once.
class EpochOrder {
 public:
  // Returns the record at a position, both in [0, records).
  [[nodiscard]] std::int64_t RecordAt(std::int64_t position) const;

 private:
  friend class SampleOrder;

  std::uint32_t records_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> round_keys_;  // none: the records' own order
};

// Which record stands at a place of an epoch's order: a function of (seed,
// epoch, position) alone, without a table. The global shuffle is a
// "swap-or-not" permutation (Hoang, Morris, Rogaway, CRYPTO 2012) keyed by
// Philox's order stream: a bijection for every size, in constant time.
//
// Round i of R maps x to its partner (key_i - x) mod records where a random bit
// of max(x, partner) is set, and leaves it otherwise. R = 6 * (bits of
// records - 1), at least 64 and so at most 192. All words come from the order
// stream of (seed, epoch): bit i of element m is bit i mod 32 of word (i mod
// 128) / 32 in block i / 128 at position m; key_i is drawn below records by
// word i mod 4 of block 2 + i / 4 at position 0.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for 2^32 records and more.
class SampleOrder {
 public:
  // Requires: records > 0.
  SampleOrder(std::int64_t records, Shuffle shuffle, std::uint64_t seed);

  // Returns an epoch's order: for many positions, as its keys cost what half a
  // position costs.
  [[nodiscard]] EpochOrder Epoch(std::uint32_t epoch) const;

  // Returns the record at a position, both in [0, records).
  [[nodiscard]] std::int64_t RecordAt(std::uint32_t epoch,
                                      std::int64_t position) const;

  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  std::int64_t records_;
  Shuffle shuffle_;
  std::uint64_t seed_;
};

}  // namespace infeed
