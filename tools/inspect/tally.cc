#include "tools/inspect/tally.h"

#include <cmath>

namespace infeed {

void Tally::Add(std::int64_t value, std::int64_t times) {
  times_[value] += times;
  count_ += times;
}

void Tally::Merge(const Tally& other) {
  for (const auto& [value, times] : other.times_) {
    Add(value, times);
  }
}

double Tally::mean() const {
  double sum = 0;
  for (const auto& [value, times] : times_) {
    sum += static_cast<double>(value) * static_cast<double>(times);
  }
  return sum / static_cast<double>(count_);
}

std::int64_t Tally::Quantile(double part) const {
  const double wanted = std::ceil(part * static_cast<double>(count_));
  std::int64_t seen = 0;
  for (const auto& [value, times] : times_) {
    seen += times;
    if (static_cast<double>(seen) >= wanted) {
      return value;
    }
  }
  return max();
}

std::int64_t RoundedForTally(std::int64_t value) {
  std::int64_t unit = 1;
  while (value / unit >= 1000) {
    unit *= 10;
  }
  return (value + unit / 2) / unit * unit;
}

std::vector<TallyBin> LogBins(const Tally& tally, int per_octave) {
  // The first value of a bin.
  const auto start = [&](std::int64_t bin) {
    return static_cast<std::int64_t>(
        std::ceil(std::exp2(static_cast<double>(bin) / per_octave)));
  };
  std::vector<TallyBin> bins;
  std::int64_t next = 0;  // the bin after the last one
  for (const auto& [value, times] : tally.times()) {
    if (value <= 0) {
      continue;
    }
    if (bins.empty()) {
      next = static_cast<std::int64_t>(std::log2(static_cast<double>(value)) *
                                       per_octave);
    }
    while (bins.empty() || bins.back().to < value) {
      if (start(next + 1) > start(next)) {  // Low bins may hold no integer.
        bins.push_back({.from = start(next), .to = start(next + 1) - 1});
      }
      ++next;
    }
    bins.back().count += times;
  }
  return bins;
}

}  // namespace infeed
