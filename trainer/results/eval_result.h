#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/results/eval_sums.h"

namespace infeed {

// The subject of an evaluation: a split of a data set, and the settings of the
// evaluation.
struct EvalSubject {
  std::string split;  // train, validation or test; fake
  std::string data;   // identifies its records
  // 8 hex digits that identify data and settings.
  std::string key;
  // Differences from the training's own evaluations, by which the best
  // checkpoint and early stopping are decided; "": it is one of them.
  std::string differences = {};

  [[nodiscard]] bool is_own() const { return differences.empty(); }
  // "test-1a2b3c4d": its name in files, tags and lines.
  [[nodiscard]] std::string name() const { return split + "-" + key; }
};

struct RocPoint {
  double false_positive_rate = 0;
  double true_positive_rate = 0;
};

// Scores of the weights themselves, beside an evaluation of their moving
// average.
struct LiveScores {
  double top_1 = 0;
  double top_5 = 0;
  double loss = 0;
};

// The result of an evaluation. Fractions are of the images seen.
struct EvalResult {
  std::int64_t images = 0;
  std::int64_t bad_records = 0;
  double top_1 = 0;
  double top_5 = 0;
  double loss = 0;  // mean cross-entropy, without the L2 term
  double images_per_second = 0;
  double input_wait = 0;  // fraction of the time, 0..1

  // Number of images for each label (row) and predicted class (column),
  // row-major; classes * classes numbers, or none where there are too many
  // classes.
  int classes = 0;
  std::vector<std::int64_t> confusion = {};
  // The mean of the accuracies of the classes that have images.
  std::optional<double> mean_class = {};
  // Area under the ROC curve: that of class 1 if there are two classes, else
  // the mean over the classes, each against the rest. Absent where it is
  // undefined.
  std::optional<double> auc = {};
  std::vector<RocPoint> roc = {};       // for two classes; (0, 0) to (1, 1)
  std::optional<LiveScores> live = {};  // with eval_live_weights
  // With two classes, the area that the PyTorch/XLA guide reports:
  // ThresholdAuc() in metrics.h.
  std::optional<double> auc_at_half = {};
};

// Whether top-5 is informative: for up to five classes it is always 1. classes:
// 0 if not known.
[[nodiscard]] inline bool HasTopFive(int classes) {
  return classes == 0 || classes > 5;
}

// The result from the sums of a whole evaluation, without speed and bad
// records. Requires: sums.images > 0.
[[nodiscard]] EvalResult MakeEvalResult(const EvalSums& sums);

struct Metric {
  std::string_view name;  // in metrics.jsonl, keep_best and early_stop
  std::string_view tag;   // in TensorBoard, as the reference's
  // nullopt where the evaluation has no such metric.
  std::optional<double> (*find)(const EvalResult& result);
};
[[nodiscard]] std::span<const Metric> EvalMetrics();
// Their names, as "top_1|top_5|loss".
[[nodiscard]] const std::string& MetricNames();

// Metric::find() by name. Requires: name is one of MetricNames().
[[nodiscard]] std::optional<double> FindMetric(const EvalResult& result,
                                               std::string_view name);

// The reason why an evaluation with this number of images and classes lacks a
// metric; "": it may have the metric. Requires: name as in FindMetric().
[[nodiscard]] std::string LacksMetricText(std::string_view name,
                                          std::int64_t images, int classes);

// Whether a is strictly better than b: smaller for loss, greater for the other
// metrics. A value that is not finite is never better, and any finite value is
// better than it.
[[nodiscard]] bool IsBetter(std::string_view name, double a, double b);

// How long evaluations may be no better before something happens.
struct Patience {
  std::string metric;  // as in FindMetric()
  int evaluations = 0;
};

// The parameter early_stop, "top_1:5", which ends a training, after one
// evaluation or more; nullopt: empty. Throws UsageError.
[[nodiscard]] std::optional<Patience> ParseEarlyStop(const std::string& text);

// The parameter plateau, "loss:10", with which the schedule plateau lowers the
// learning rate. Throws UsageError.
[[nodiscard]] Patience ParsePlateau(const std::string& text);

// Whether the last `evaluations` of these values are all no better than one
// before them. A value that is not finite is never better.
[[nodiscard]] bool IsOver(const Patience& early_stop,
                          std::span<const double> values);

}  // namespace infeed
