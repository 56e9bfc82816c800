#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace infeed {

// Counts each value and gives exact quantiles. Meant for few distinct values;
// RoundedForTally() reduces their number. Const members may be called from
// several threads at once; others need one thread at a time.
class Tally {
 public:
  void Add(std::int64_t value, std::int64_t times = 1);
  void Merge(const Tally& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const std::map<std::int64_t, std::int64_t>& times() const {
    return times_;
  }

  // Require: not empty().
  [[nodiscard]] std::int64_t min() const { return times_.begin()->first; }
  [[nodiscard]] std::int64_t max() const { return times_.rbegin()->first; }
  [[nodiscard]] double mean() const;
  // The least value that at least the fraction `part`, 0..1, of all values does
  // not exceed.
  [[nodiscard]] std::int64_t Quantile(double part) const;

 private:
  std::map<std::int64_t, std::int64_t> times_;
  std::int64_t count_ = 0;
};

// A value rounded to three significant digits: 123456 -> 123000.
[[nodiscard]] std::int64_t RoundedForTally(std::int64_t value);

// The number of values in from..to (inclusive).
struct TallyBin {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

// A histogram of positive values with logarithmic bins, `per_octave` bins per
// doubling, from the first non-empty bin to the last. Other values are ignored.
[[nodiscard]] std::vector<TallyBin> LogBins(const Tally& tally, int per_octave);

}  // namespace infeed
