#include "trainer/log/loss_spikes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_parts.h"
#include "base/shell_word.h"

namespace infeed {
namespace {

constexpr std::size_t kReach = 25;        // losses on one side of a window
constexpr std::size_t kLeastLosses = 11;  // in a window
constexpr double kLeastDistance = 6;
constexpr double kLeastShare = 1e-3;  // of the median that a spike differs by
constexpr double kLeastUnit = 1e-6;   // where the median is 0

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Neighbours {
  double median = kNone;
  double mad = 0;
  std::size_t size = 0;
};

// Requires: values is not empty. Of an even number the upper one.
double MedianOf(std::vector<double>& values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The window around a loss. buffer: reused for each call.
Neighbours NeighboursOf(std::span<const double> losses, std::size_t at,
                        std::vector<double>& buffer) {
  const std::size_t back = std::min(at, kReach);
  const std::size_t forward = std::min(back, losses.size() - 1 - at);
  const auto window = losses.subspan(at - back, back + 1 + forward);
  buffer.assign(window.begin(), window.end());
  const double median = MedianOf(buffer);
  for (double& value : buffer) {
    value = std::abs(value - median);
  }
  return {.median = median, .mad = MedianOf(buffer), .size = window.size()};
}

LossSpike SpikeAt(std::span<const HistoryPoint> points, std::size_t at) {
  const std::int64_t step = points[at].step;
  const std::int64_t first = at == 0 ? 1 : points[at - 1].step + 1;
  return {.step = step,
          .first_step = std::min(first, step),
          .loss = points[at].loss,
          .median = kNone,
          .distance = kInfinity};
}

// The spikes among the finite losses, the worst of each run of neighbours.
// places: of each loss in `points`.
void AddFinite(std::span<const HistoryPoint> points,
               std::span<const std::size_t> places,
               std::vector<LossSpike>& spikes) {
  std::vector<double> losses;
  losses.reserve(places.size());
  for (const std::size_t place : places) {
    losses.push_back(points[place].loss);
  }
  std::vector<double> buffer;
  bool is_in_run = false;  // The loss before it stands out.
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const Neighbours window = NeighboursOf(losses, i, buffer);
    const double unit = std::max(
        {window.mad, kLeastShare * std::abs(window.median), kLeastUnit});
    const double distance = (losses[i] - window.median) / unit;
    const bool stands_out =
        window.size >= kLeastLosses && distance >= kLeastDistance;
    if (stands_out && is_in_run && spikes.back().distance < distance) {
      spikes.pop_back();
      is_in_run = false;
    }
    if (stands_out && !is_in_run) {
      LossSpike& spike = spikes.emplace_back(SpikeAt(points, places[i]));
      spike.median = window.median;
      spike.distance = distance;
    }
    is_in_run = stands_out;
  }
}

// "101-200": the loss is of the last of these steps.
std::string StepsText(const LossSpike& spike) {
  return spike.first_step < spike.step
             ? fmt::format("{}-{}", spike.first_step, spike.step)
             : std::to_string(spike.step);
}

std::vector<std::string> RowOf(const LossSpike& spike,
                               const std::string& model_dir) {
  const bool is_finite = std::isfinite(spike.distance);
  return {StepsText(spike),
          is_finite ? fmt::format("{:.4g}", spike.loss) : "not finite",
          is_finite ? fmt::format("{:.4g}", spike.median) : "-",
          is_finite ? fmt::format("{:.1f}", spike.distance) : "-",
          model_dir.empty()
              ? "-"
              : EscapeXml(fmt::format("train_resnet --mode replay --model_dir "
                                      "{} --step {} --losses",
                                      ShellWord(model_dir), spike.step))};
}

}  // namespace

std::vector<LossSpike> FindLossSpikes(std::span<const HistoryPoint> points) {
  std::vector<LossSpike> spikes;
  std::vector<std::size_t> finite;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].loss)) {
      finite.push_back(i);
    } else if (i == 0 || std::isfinite(points[i - 1].loss)) {
      spikes.push_back(SpikeAt(points, i));
    }
  }
  AddFinite(points, finite, spikes);
  // Stable: of equals the earlier step is first.
  std::ranges::stable_sort(spikes, std::ranges::greater{},
                           &LossSpike::distance);
  spikes.resize(std::min(spikes.size(), kMostSpikes));
  return spikes;
}

std::vector<LossSpike> FindLossSpikes(const RunHistory& history) {
  std::vector<HistoryPoint> points = history.steps();
  const std::vector<HistoryRun>& runs = history.runs();
  if (!runs.empty() && runs.back().end == RunEnd::kDiverged) {
    const std::int64_t step = runs.back().last_step;
    const auto place =
        std::ranges::lower_bound(points, step, {}, &HistoryPoint::step);
    if (place == points.end() || place->step != step) {
      points.insert(place, {.step = step, .loss = kNone});
    }
  }
  return FindLossSpikes(std::span<const HistoryPoint>(points));
}

std::string SpikesTable(const std::vector<LossSpike>& spikes,
                        const std::string& model_dir) {
  std::vector<std::vector<std::string>> rows;
  bool has_ranges = false;
  for (const LossSpike& spike : spikes) {
    rows.push_back(RowOf(spike, model_dir));
    has_ranges = has_ranges || spike.first_step < spike.step;
  }
  const std::string table = HtmlTable(
      {"step", "loss", "median around it", "MADs above it", "its batch"}, rows);
  return !has_ranges
             ? table
             : table +
                   "<p class=\"note\">metrics.jsonl has the loss of the last "
                   "step of each range; that of others is not known.</p>\n";
}

}  // namespace infeed
