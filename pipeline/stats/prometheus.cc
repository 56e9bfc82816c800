#include "pipeline/stats/prometheus.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "pipeline/stats/fields.h"

namespace infeed {
namespace {

std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      text += '\\';
    }
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

// A label for each of a thousand would burden whoever collects them.
constexpr std::size_t kMostWorkers = 64;

// What stands between the braces of a sample, with a comma after each label.
std::string Label(std::string_view name, std::string_view value) {
  return name.empty() ? "" : fmt::format("{}=\"{}\",", name, Escaped(value));
}

// labels: as Label() makes them.
template <typename Value>
std::string SampleLine(std::string_view metric, std::string labels,
                       const Value& value) {
  if (!labels.empty()) {
    labels.back() = '}';
    labels.insert(0, "{");
  }
  return fmt::format("infeed_{}{} {}\n", metric, labels, value);
}

template <typename Stats>
std::string NameOf(const Stats& stats) {
  if constexpr (requires { stats.address; }) {
    return stats.address;
  } else if constexpr (requires { stats.name; }) {
    return stats.name;
  } else {
    return {};
  }
}

// Writes the metrics of statistics, each sample with the common labels.
class Exposition {
 public:
  explicit Exposition(const MetricLabels& labels) {
    for (const auto& [name, value] : labels) {
      common_ += Label(name, value);
    }
  }

  // Adds the metrics of stages or queues, or of one struct.
  template <typename Stats>
  void Add(std::span<const Stats> all) {
    for (const StatField<Stats>& field : kFields<Stats>) {
      if (!field.help.empty()) {
        text_ += fmt::format(
            "# HELP infeed_{0} {1}\n# TYPE infeed_{0} {2}\n", field.metric,
            field.help, field.metric.ends_with("_total") ? "counter" : "gauge");
      }
      for (const Stats& stats : all) {
        AddSample(field, stats);
      }
    }
  }

  void AddGauge(std::string_view metric, std::string_view help, double value) {
    text_ += fmt::format("# HELP infeed_{0} {1}\n# TYPE infeed_{0} gauge\n",
                         metric, help) +
             SampleLine(metric, common_, value);
  }

  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  template <typename Stats>
  void AddSample(const StatField<Stats>& field, const Stats& stats) {
    if (field.metric.empty()) {
      return;
    }
    const std::string labels =
        common_ + Label(field.label, field.label_value.empty()
                                         ? NameOf(stats)
                                         : field.label_value);
    std::visit(
        [&](auto member) {
          text_ += SampleLine(field.metric, labels, std::invoke(member, stats));
        },
        field.member);
  }

  std::string common_;
  std::string text_;
};

}  // namespace

std::string PrometheusText(const PipelineStats& stats,
                           const MetricLabels& labels,
                           const std::optional<double>& workers_wanted) {
  Exposition out(labels);
  out.Add(std::span(&stats, 1));
  out.Add(std::span(&stats.bad_record_totals, 1));
  out.Add(std::span(&stats.cache, 1));
  out.Add(std::span(&stats.seek_indexes, 1));
  out.Add<StageStats>(stats.stages);
  out.Add<QueueStats>(stats.queues);
  if (const std::span workers(stats.workers); !workers.empty()) {
    out.Add(workers.first(std::min(workers.size(), kMostWorkers)));
  }
  if (workers_wanted) {
    out.AddGauge("workers_wanted",
                 "Input workers that would feed the device, by the last "
                 "minute.",
                 *workers_wanted);
  }
  return out.Take();
}

}  // namespace infeed
