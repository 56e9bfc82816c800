#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trainer/scores/eval_sums.h"

namespace infeed {

struct RocPoint {
  double false_positive_rate = 0;
  double true_positive_rate = 0;
};

// What an evaluation found. Fractions are of the images seen.
struct EvalResult {
  std::int64_t images = 0;
  std::int64_t bad_records = 0;
  double top_1 = 0;
  double top_5 = 0;
  double loss = 0;  // mean cross-entropy, without the L2 term
  double images_per_second = 0;
  double input_wait = 0;  // fraction of the time, 0..1

  // Images of each label (row) by what was said (column), row-major;
  // classes * classes numbers, or none where there are too many classes.
  int classes = 0;
  std::vector<std::int64_t> confusion = {};
  // The mean of the classes' accuracies, of those that have images.
  std::optional<double> mean_class = {};
  // Area under the ROC curve: of class 1 of two, else the mean over the
  // classes of each against the rest. Absent where it has no meaning.
  std::optional<double> auc = {};
  std::vector<RocPoint> roc = {};  // of two classes, from (0, 0) to (1, 1)
  // Of two classes, the area that the PyTorch/XLA guide reports: ThresholdAuc()
  // of metrics.h.
  std::optional<double> auc_at_half = {};
};

// What the sums of a whole evaluation say; all but speed and bad records.
// Requires: sums.images > 0.
[[nodiscard]] EvalResult ResultOf(const EvalSums& sums);

// A metric by its name in metrics.jsonl and keep_best: top_1, top_5, loss,
// mean_class, auc, auc_at_half; nullopt where the evaluation has none.
// Requires: it is one of these.
[[nodiscard]] std::optional<double> MetricOf(const EvalResult& result,
                                             std::string_view name);

// Whether a is strictly better than b: smaller of loss, greater of the others.
// What is not finite is never better, and anything finite is better than it.
[[nodiscard]] bool IsBetter(std::string_view name, double a, double b);

}  // namespace infeed
