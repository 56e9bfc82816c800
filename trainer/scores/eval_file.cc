#include "trainer/scores/eval_file.h"

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/scores/metrics.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMetrics[] = {"top_1",      "top_5", "loss",
                                         "mean_class", "auc",   "auc_at_half"};

// The rows of the confusion matrix.
Json Rows(const EvalResult& result) {
  Json rows = Json::array();
  const auto width = static_cast<std::size_t>(result.classes);
  for (std::size_t i = 0; i < result.confusion.size(); i += width) {
    rows.push_back(std::vector<std::int64_t>(
        result.confusion.begin() + static_cast<std::ptrdiff_t>(i),
        result.confusion.begin() + static_cast<std::ptrdiff_t>(i + width)));
  }
  return rows;
}

// The classes predicted for each class's images.
Json Classes(const EvalResult& result, const ModelLabels& labels) {
  Json classes = Json::array();
  const auto width = static_cast<std::size_t>(result.classes);
  const auto accuracies = ClassAccuracies(result.confusion, result.classes);
  for (std::size_t i = 0; i < width; ++i) {
    std::int64_t images = 0;
    std::int64_t said = 0;
    for (std::size_t j = 0; j < width; ++j) {
      images += result.confusion[i * width + j];
      said += result.confusion[j * width + i];
    }
    classes.push_back({{"index", i},
                       {"label", labels.NameOf(static_cast<std::int64_t>(i))},
                       {"images", images},
                       {"said", said},
                       {"right", result.confusion[i * width + i]}});
    if (accuracies[i]) {
      classes.back()["accuracy"] = *accuracies[i];
    }
  }
  return classes;
}

Json Curve(const EvalResult& result) {
  Json points = Json::array();
  for (const RocPoint& point : result.roc) {
    points.push_back({point.false_positive_rate, point.true_positive_rate});
  }
  return points;
}

}  // namespace

std::string EvalFileText(std::int64_t step, const EvalResult& result,
                         const ModelLabels& labels) {
  Json file = {{"schema", 1},
               {"step", step},
               {"images", result.images},
               {"bad_records", result.bad_records}};
  for (const std::string_view name : kMetrics) {
    if (const std::optional<double> value = MetricOf(result, name)) {
      file[std::string(name)] = *value;
    }
  }
  file["images_per_second"] = result.images_per_second;
  file["input_wait"] = result.input_wait;
  if (!result.confusion.empty()) {
    file["classes"] = Classes(result, labels);
    file["confusion"] = Rows(result);
  }
  if (!result.roc.empty()) {
    file["roc"] = Curve(result);
  }
  // Names may have bytes that are not UTF-8.
  return file.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void WriteEvalFile(const std::string& model_dir, std::int64_t step,
                   const EvalResult& result, const ModelLabels& labels) {
  MakeFolder(EvalFolder(model_dir), "create the folder");
  WriteFileAtomically(EvalPath(model_dir, step),
                      EvalFileText(step, result, labels));
}

}  // namespace infeed
