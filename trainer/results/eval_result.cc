#include "trainer/results/eval_result.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "records/bytes/whole_number.h"
#include "trainer/results/metrics.h"

namespace infeed {
namespace {

void AddCurve(const EvalSums& sums, EvalResult& result) {
  std::vector<ScoredImage> images =
      ScoredFor(1, sums.scores, sums.labels, sums.classes);
  result.auc_at_half = ThresholdAuc(images);
  result.auc = RankAuc(images);
  result.roc = RocCurve(std::move(images));
}

// The mean over the classes that have images.
std::optional<double> MeanAccuracy(const EvalSums& sums) {
  std::vector<std::optional<double>> accuracies;
  for (const ClassCounts& counts : CountClasses(sums.confusion, sums.classes)) {
    accuracies.push_back(counts.accuracy());
  }
  return MeanOf(accuracies);
}

// The mean over the classes, each against the rest. A class without images, or
// with all of them, has no area and is left out.
std::optional<double> MeanAuc(const EvalSums& sums) {
  std::vector<std::optional<double>> areas;
  for (int i = 0; i < sums.classes; ++i) {
    areas.push_back(
        RankAuc(ScoredFor(i, sums.scores, sums.labels, sums.classes)));
  }
  return MeanOf(areas);
}

using Result = EvalResult;
using Found = std::optional<double>;

constexpr Metric kMetrics[] = {
    {"top_1", "top_1_accuracy",
     [](const Result& r) -> Found { return r.top_1; }},
    {"top_5", "top_5_accuracy",
     [](const Result& r) {
       return HasTopFive(r.classes) ? Found(r.top_5) : std::nullopt;
     }},
    {"loss", "loss", [](const Result& r) -> Found { return r.loss; }},
    {"mean_class", "mean_class_accuracy",
     [](const Result& r) { return r.mean_class; }},
    {"auc", "auc", [](const Result& r) { return r.auc; }},
    {"auc_at_half", "auc_at_half",
     [](const Result& r) { return r.auc_at_half; }},
};

Patience ParsePatience(std::string_view name, const std::string& text,
                       int least) {
  constexpr int kMostEvaluations = 1'000'000;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string metric = text.substr(0, colon);
  const auto evaluations = ParseWholeNumber<int>(
      std::string_view(text).substr(std::min(colon + 1, text.size())));
  if (!IsChoice(MetricNames(), metric) || !evaluations ||
      *evaluations < least || *evaluations > kMostEvaluations) {
    throw UsageError(
        std::string(name) + "='" + text +
        "': must be a metric and a number of evaluations, as 'top_1:5'; the "
        "metric is " +
        ChoicesText(MetricNames()));
  }
  return {.metric = metric, .evaluations = *evaluations};
}

}  // namespace

EvalResult MakeEvalResult(const EvalSums& sums) {
  const auto images = static_cast<double>(sums.images);
  const double loss = sums.loss_sum / images;
  EvalResult result = {.images = sums.images,
                       .top_1 = static_cast<double>(sums.top_1) / images,
                       .top_5 = static_cast<double>(sums.top_5) / images,
                       // Without the sign that a NaN may have.
                       .loss = std::isnan(loss) ? std::nan("") : loss,
                       .classes = sums.classes,
                       .confusion = sums.confusion};
  if (!sums.confusion.empty()) {
    result.mean_class = MeanAccuracy(sums);
  }
  if (sums.has_scores && sums.classes == 2) {
    AddCurve(sums, result);
  } else if (sums.has_scores && sums.classes > 2) {
    result.auc = MeanAuc(sums);
  }
  return result;
}

std::span<const Metric> EvalMetrics() { return kMetrics; }

const std::string& MetricNames() {
  static const std::string names = JoinNames(kMetrics, &Metric::name);
  return names;
}

std::optional<double> FindMetric(const EvalResult& result,
                                 std::string_view name) {
  const Metric* const metric = std::ranges::find(kMetrics, name, &Metric::name);
  Check(metric != std::end(kMetrics), "the metric has a name");
  return metric->find(result);
}

std::string LacksMetricText(std::string_view name, std::int64_t images,
                            int classes) {
  if (name == "top_5" && !HasTopFive(classes)) {
    return "with up to five classes it is always 1";
  }
  if (name == "mean_class" && classes > kMaxConfusionClasses) {
    return fmt::format("it is computed for up to {} classes only",
                       kMaxConfusionClasses);
  }
  if (name == "auc_at_half" && classes != 2) {
    return "it is defined for two classes only";
  }
  if (name != "auc" && name != "auc_at_half") {
    return "";
  }
  if (classes < 2) {
    return "it needs two classes or more";
  }
  return images * classes > kMaxScores
             ? fmt::format(
                   "it is computed for up to {} scores only, images times "
                   "classes",
                   kMaxScores)
             : "";
}

bool IsBetter(std::string_view name, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::isfinite(a);
  }
  return name == "loss" ? a < b : a > b;
}

std::optional<Patience> ParseEarlyStop(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  return ParsePatience("early_stop", text, 1);
}

Patience ParsePlateau(const std::string& text) {
  return ParsePatience("plateau", text, 0);
}

bool IsOver(const Patience& early_stop, std::span<const double> values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    best = IsBetter(early_stop.metric, values[i], values[best]) ? i : best;
  }
  return values.size() >
         best + static_cast<std::size_t>(early_stop.evaluations);
}

}  // namespace infeed
