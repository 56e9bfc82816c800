#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace infeed {

// How often each value occurred, and from that exact quantiles. Meant for
// values of which few differ; RoundedForTally() makes few of many.
// Const members may be called from several threads at once; others need one
// thread at a time.
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
  // The least value that `part` of all, 0..1, do not exceed.
  [[nodiscard]] std::int64_t Quantile(double part) const;

 private:
  std::map<std::int64_t, std::int64_t> times_;
  std::int64_t count_ = 0;
};

// A value with three digits, rounded to the nearest: 123456 -> 123000.
[[nodiscard]] std::int64_t RoundedForTally(std::int64_t value);

// Values in from..to (inclusive) and how many there are.
struct TallyBin {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

// A histogram of positive values in bins that each are wider than the one
// before by the same factor, `per_octave` of them to a doubling; from the first
// that is not empty to the last. Other values are left out.
[[nodiscard]] std::vector<TallyBin> LogBins(const Tally& tally, int per_octave);

}  // namespace infeed
