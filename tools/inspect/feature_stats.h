#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "records/example/reader.h"
#include "tools/cli/report_table.h"

// What Examples hold, whatever their keys are.
namespace infeed {

// Counts each value and gives exact quantiles. Meant for few distinct values;
// RoundedForTally() reduces their number. Const members may be called from
// several threads at once; others need one thread at a time.
class Tally {
 public:
  void Add(std::int64_t value, std::int64_t times = 1) {
    times_[value] += times;
    count_ += times;
  }
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

template <typename T>
struct ValueRange {
  T least = std::numeric_limits<T>::max();
  T most = std::numeric_limits<T>::lowest();

  void Add(T value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  void Merge(const ValueRange& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  [[nodiscard]] bool empty() const { return most < least; }
};

// The values of one feature in all records that have it.
struct FeatureStats {
  std::array<std::int64_t, 4> kinds = {};  // records, by FeatureKind
  ValueRange<std::int64_t> count;          // values of a record
  Tally counts;                            // the same, rounded to three digits
  ValueRange<std::int64_t> integers;
  ValueRange<float> floats;        // finite ones
  std::int64_t not_finite = 0;     // other floats
  ValueRange<std::int64_t> sizes;  // bytes of a value
  std::int64_t most_bytes = 0;     // of a record, as FieldReader counts them

  void Add(const ExampleFeature& feature);
  void Merge(const FeatureStats& other);

  // Records with a list.
  [[nodiscard]] std::int64_t records() const { return counts.count(); }
};

// The statistics of the first features in the order of their keys, at most
// kMost of them.
struct FeatureTable {
  static constexpr std::size_t kMost = 256;

  std::map<std::string, FeatureStats, std::less<>> by_key;
  bool is_cut = false;  // there are more keys

  void Add(std::span<const ExampleFeature> features);
  void Merge(const FeatureTable& other);

  // Removes these keys.
  [[nodiscard]] FeatureTable Without(std::span<const std::string> keys) const;
};

// A row for each feature: its kinds, in how many records it is, the number of
// values in a record, and their range, of bytes that of their sizes.
inline constexpr std::array<const char*, 7> kFeatureColumns = {
    "feature", "kind", ">records", ">min", ">median", ">max", "range"};
[[nodiscard]] std::vector<ReportTable> FeatureItems(const FeatureTable& table);

// The Python code that reads the features of records without images. records:
// all of them; paths: of the shards.
[[nodiscard]] std::string LoaderCode(const FeatureTable& table,
                                     std::int64_t records,
                                     std::span<const std::string> paths);

}  // namespace infeed
