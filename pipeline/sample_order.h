#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/options.h"

namespace infeed {

// Which record stands at a place of an epoch's order: a function of (seed,
// epoch, position) alone, without a table. The global shuffle is a
// "swap-or-not" permutation (Hoang, Morris, Rogaway, CRYPTO 2012) keyed by
// Philox's order stream: a bijection for every size, in constant time.
// Const members may be called from several threads at once.
class SampleOrder {
 public:
  // Requires: 0 < records < 2^32.
  SampleOrder(std::int64_t records, Shuffle shuffle, std::uint64_t seed);

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
