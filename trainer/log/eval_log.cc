#include "trainer/log/eval_log.h"

#include <optional>
#include <string_view>

#include "trainer/log/pictures.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/scores/eval_file.h"

namespace infeed {
namespace {

// A metric in metrics.jsonl and, under the reference's tag, in TensorBoard.
struct TaggedMetric {
  std::string_view name;
  std::string_view tag;
};

constexpr TaggedMetric kTaggedMetrics[] = {
    {"loss", "loss"},
    {"top_1", "top_1_accuracy"},
    {"top_5", "top_5_accuracy"},
    {"mean_class", "mean_class_accuracy"},
    {"auc", "auc"},
    {"auc_at_half", "auc_at_half"}};

}  // namespace

EvalLog::EvalLog(const std::string& model_dir)
    : model_dir_(model_dir),
      labels_(ModelLabels::OfModel(model_dir)),
      metrics_(model_dir),
      summaries_(EvalFolder(model_dir)) {}

void EvalLog::Write(std::int64_t step, const EvalResult& result) {
  MetricsLog::Values values = {{"images", result.images},
                               {"images_per_second", result.images_per_second},
                               {"input_wait", result.input_wait}};
  for (const TaggedMetric& metric : kTaggedMetrics) {
    if (const std::optional<double> value = MetricOf(result, metric.name)) {
      values.emplace_back(metric.name, *value);
      summaries_.Scalar(metric.tag, *value, step);
    }
  }
  if (!result.confusion.empty()) {
    summaries_.Image("confusion_matrix",
                     ConfusionPicture(result, labels_.names()), step);
  }
  if (!result.roc.empty()) {
    summaries_.Image("roc", RocPicture(result), step);
  }
  summaries_.Flush();
  metrics_.Write("eval", step, values);
  WriteEvalFile(model_dir_, step, result, labels_);
}

}  // namespace infeed
