#include "tools/inspect/feature_stats.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <set>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "tools/cli/report_table.h"

namespace infeed {
namespace {

using FeatureJson = nlohmann::ordered_json;

constexpr std::size_t kLongestFeatureKey = 48;
// Of a record's values without a shape: InputOptions::max_field_bytes.
constexpr std::int64_t kUsualFieldBytes = 4096;

// Adds the values of one record's feature.
class AddValues {
 public:
  explicit AddValues(FeatureStats& stats) : stats_(stats) {}

  void operator()(std::monostate /*none*/) { ++Records(FeatureKind::kNone); }
  void operator()(const std::vector<std::string_view>& values) {
    std::int64_t bytes = 0;
    for (const std::string_view value : values) {
      stats_.sizes.Add(std::ssize(value));
      bytes += std::ssize(value);
    }
    AddList(FeatureKind::kBytes, std::ssize(values), bytes);
  }
  void operator()(const std::vector<float>& values) {
    for (const float value : values) {
      if (std::isfinite(value)) {
        stats_.floats.Add(value);
      } else {
        ++stats_.not_finite;
      }
    }
    AddList(FeatureKind::kFloat, std::ssize(values), 0);
  }
  void operator()(const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) {
      stats_.integers.Add(value);
    }
    AddList(FeatureKind::kInt64, std::ssize(values), 0);
  }

 private:
  std::int64_t& Records(FeatureKind kind) {
    return stats_.kinds.at(static_cast<std::size_t>(kind));
  }
  void AddList(FeatureKind kind, std::int64_t count, std::int64_t bytes) {
    ++Records(kind);
    stats_.count.Add(count);
    stats_.counts.Add(RoundedForTally(count));
    stats_.most_bytes = std::max(stats_.most_bytes, 8 * count + bytes);
  }

  FeatureStats& stats_;
};

// The kinds of a feature's lists, without "nothing" if there are others.
std::vector<FeatureKind> KindsOf(const FeatureStats& stats) {
  std::vector<FeatureKind> kinds;
  for (const FeatureKind kind :
       {FeatureKind::kBytes, FeatureKind::kFloat, FeatureKind::kInt64}) {
    if (stats.kinds.at(static_cast<std::size_t>(kind)) > 0) {
      kinds.push_back(kind);
    }
  }
  return kinds.empty() ? std::vector{FeatureKind::kNone} : kinds;
}

std::string KindName(const FeatureStats& stats) {
  std::string text;
  for (const FeatureKind kind : KindsOf(stats)) {
    text.append(text.empty() ? "" : "+").append(FeatureKindName(kind));
  }
  return text;
}

// "3..7", or "5" for one value.
template <typename T, typename Show>
ReportRow RangeRow(const ValueRange<T>& range, Show show) {
  if (range.empty()) {
    return {"range", nullptr, "-"};
  }
  const std::string least = show(range.least);
  const std::string most = show(range.most);
  return {"range",
          {range.least, range.most},
          least == most ? least : least + ".." + most};
}

ReportRow RangeOf(const FeatureStats& stats) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const std::vector<FeatureKind> kinds = KindsOf(stats);
  if (kinds.size() > 1) {
    return {"range", nullptr, "-"};
  }
  if (kinds.front() == FeatureKind::kBytes) {
    return RangeRow(stats.sizes, FileSizeText);
  }
  if (kinds.front() == FeatureKind::kInt64) {
    return RangeRow(stats.integers, number);
  }
  ReportRow row = RangeRow(stats.floats, number);
  if (stats.not_finite > 0) {
    row.text += fmt::format(", {} not finite", stats.not_finite);
  }
  return row;
}

ReportRow CountCell(const std::string& key, const FeatureStats& stats,
                    std::int64_t count) {
  return stats.records() == 0 ? ReportRow{key, nullptr, "-"}
                              : ReportRow{key, count, std::to_string(count)};
}

// A field of the shape that all records have, else of lists of any length.
std::string FieldCode(const FeatureStats& stats, FeatureKind kind,
                      bool is_fixed) {
  const std::string type = fmt::format("\"{}{}\"", FeatureKindName(kind),
                                       kind == FeatureKind::kFloat ? "32" : "");
  if (!is_fixed) {
    return type;
  }
  return fmt::format(
      "infeed.Field({}, {})", type,
      stats.count.most == 1 ? "()" : std::to_string(stats.count.most));
}

// Python strings that are JSON, too.
std::string Quoted(std::string_view text) {
  return FeatureJson(text).dump(-1, ' ', false,
                                FeatureJson::error_handler_t::replace);
}

// One shard, a pattern for those of a folder, else the folders.
std::string DataCode(std::span<const std::string> paths) {
  std::set<std::string> folders;
  std::string common = paths.empty() ? "" : PathForMessages(paths.front());
  for (const std::string& path : paths) {
    const std::string shown = PathForMessages(path);
    folders.insert(shown.substr(0, shown.rfind('/') + 1));
    common.erase(std::ranges::mismatch(common, shown).in1, common.end());
  }
  if (folders.size() <= 1) {
    return Quoted(common + (paths.size() > 1 ? "*" : ""));
  }
  std::string list;
  for (const std::string& folder : folders) {
    list += (list.empty() ? "" : ", ") + Quoted(folder.empty() ? "." : folder);
  }
  return "[" + list + "]";
}

}  // namespace

void FeatureStats::Add(const ExampleFeature& feature) {
  std::visit(AddValues(*this), feature.values);
}

void FeatureStats::Merge(const FeatureStats& other) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    kinds.at(kind) += other.kinds.at(kind);
  }
  count.Merge(other.count);
  counts.Merge(other.counts);
  integers.Merge(other.integers);
  floats.Merge(other.floats);
  not_finite += other.not_finite;
  sizes.Merge(other.sizes);
  most_bytes = std::max(most_bytes, other.most_bytes);
}

// Of a full table the last key only gets lower, so that a key that was left out
// never comes back: the result does not depend on the order of the records.
void FeatureTable::Add(std::span<const ExampleFeature> features) {
  for (const ExampleFeature& feature : features) {
    auto found = by_key.find(feature.key);
    if (found == by_key.end()) {
      found = by_key.emplace(feature.key, FeatureStats()).first;
    }
    found->second.Add(feature);
    if (by_key.size() > kMost) {
      by_key.erase(std::prev(by_key.end()));
      is_cut = true;
    }
  }
}

void FeatureTable::Merge(const FeatureTable& other) {
  is_cut = is_cut || other.is_cut;
  for (const auto& [key, stats] : other.by_key) {
    by_key[key].Merge(stats);
  }
  while (by_key.size() > kMost) {
    by_key.erase(std::prev(by_key.end()));
    is_cut = true;
  }
}

FeatureTable FeatureTable::Without(std::span<const std::string> keys) const {
  FeatureTable rest = *this;
  for (const std::string& key : keys) {
    rest.by_key.erase(key);
  }
  return rest;
}

std::vector<ReportTable> FeatureItems(const FeatureTable& table) {
  std::vector<ReportTable> items;
  for (const auto& [key, stats] : table.by_key) {
    ReportTable& item = items.emplace_back();
    const auto add_count = [&](const char* name, std::int64_t count) {
      item.push_back(CountCell(name, stats, count));
    };
    item = {{"key", key, ShortText(key, kLongestFeatureKey)},
            {"kind", KindName(stats), KindName(stats)},
            {"records", stats.records(), std::to_string(stats.records())}};
    add_count("min_values", stats.count.least);
    add_count("median_values",
              stats.records() == 0
                  ? 0
                  : std::clamp(stats.counts.Quantile(0.5), stats.count.least,
                               stats.count.most));
    add_count("max_values", stats.count.most);
    item.push_back(RangeOf(stats));
    item.push_back({"not_finite", stats.not_finite});
  }
  return items;
}

std::string LoaderCode(const FeatureTable& table, std::int64_t records,
                       std::span<const std::string> paths) {
  std::string fields;
  std::int64_t list_bytes = 0;
  for (const auto& [key, stats] : table.by_key) {
    const std::vector<FeatureKind> kinds = KindsOf(stats);
    if (kinds.size() > 1 || kinds.front() == FeatureKind::kNone) {
      continue;  // No field can hold it.
    }
    const bool is_bytes = kinds.front() == FeatureKind::kBytes;
    const bool is_fixed =
        stats.records() == records && stats.count.least == stats.count.most &&
        stats.count.least > 0 && (!is_bytes || stats.count.most == 1);
    list_bytes += is_fixed && !is_bytes ? 0 : stats.most_bytes;
    fields +=
        fmt::format("{}    {}: {}", fields.empty() ? "" : ",\n", Quoted(key),
                    FieldCode(stats, kinds.front(), is_fixed));
  }
  return fmt::format(
      "infeed.Loader({}, batch_size=32, views=(), {}fields={{\n{}}})\n",
      DataCode(paths),
      list_bytes > kUsualFieldBytes
          ? fmt::format("max_field_bytes={}, ", list_bytes)
          : "",
      fields);
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
