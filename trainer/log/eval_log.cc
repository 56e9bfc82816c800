#include "trainer/log/eval_log.h"

#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "trainer/log/pictures.h"
#include "trainer/results/metrics.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson ConfusionRows(const EvalResult& result) {
  OrderedJson rows = OrderedJson::array();
  const auto width = static_cast<std::size_t>(result.classes);
  for (std::size_t i = 0; i < result.confusion.size(); i += width) {
    rows.push_back(std::vector<std::int64_t>(
        result.confusion.begin() + static_cast<std::ptrdiff_t>(i),
        result.confusion.begin() + static_cast<std::ptrdiff_t>(i + width)));
  }
  return rows;
}

OrderedJson Classes(const EvalResult& result, const ModelLabels& labels) {
  OrderedJson classes = OrderedJson::array();
  for (const ClassCounts& counts :
       CountClasses(result.confusion, result.classes)) {
    const std::size_t index = classes.size();
    classes.push_back(
        {{"index", index},
         {"label", labels.NameOf(static_cast<std::int64_t>(index))},
         {"images", counts.images},
         {"said", counts.predicted},
         {"right", counts.right}});
    if (const std::optional<double> accuracy = counts.accuracy()) {
      classes.back()["accuracy"] = *accuracy;
    }
  }
  return classes;
}

// The names of the confusion matrix's rows and columns, as a code block of
// Markdown.
std::string NamesText(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += "    " + std::to_string(i) + " " + names[i] + "\n";
  }
  return text;
}

OrderedJson Curve(const EvalResult& result) {
  OrderedJson points = OrderedJson::array();
  for (const RocPoint& point : result.roc) {
    points.push_back({point.false_positive_rate, point.true_positive_rate});
  }
  return points;
}

std::string Tag(std::string_view name, const EvalSubject& subject) {
  return std::string(name) + (subject.is_own() ? "" : "/" + subject.name());
}

// The values of metrics.jsonl and of the evaluation's file.
EventValues ValuesOf(const EvalSubject& subject, const EvalResult& result) {
  EventValues values = {{"split", subject.split},
                        {"data_identity", subject.data},
                        {"evaluation", subject.name()},
                        {"images", result.images},
                        {"images_per_second", result.images_per_second},
                        {"input_wait", result.input_wait}};
  for (const Metric& metric : EvalMetrics()) {
    if (const std::optional<double> value = metric.find(result)) {
      values.push_back(
          {std::string(metric.name), *value, Tag(metric.tag, subject)});
    }
  }
  return values;
}

}  // namespace

EvalLog::EvalLog(const std::string& model_dir, ModelLabels labels)
    : model_dir_(model_dir),
      labels_(std::move(labels)),
      metrics_(model_dir),
      summaries_(EvalFolder(model_dir), kInOwnFolder) {
  if (!labels_.names().empty()) {
    summaries_.Add(
        TextEvent(UnixSeconds(), 0, "classes", NamesText(labels_.names())));
  }
}

void EvalLog::Write(std::int64_t step, const EvalSubject& subject,
                    const EvalResult& result) {
  WriteCurves(step, subject, result);
  MakeFolder(EvalFolder(model_dir_), "create the folder", 1);
  // Written last: an evaluation with this file is complete.
  WriteFileAtomically(
      EvalPath(model_dir_, step, subject.is_own() ? "" : subject.name()),
      EvalFileText(step, subject, result, labels_), kInOwnFolder);
}

void EvalLog::WriteCurves(std::int64_t step, const EvalSubject& subject,
                          const EvalResult& result) {
  EventValues values = ValuesOf(subject, result);
  const auto tag = [&](std::string_view name) { return Tag(name, subject); };
  if (result.live) {
    const LiveScores& live = *result.live;
    values.push_back({"live_loss", live.loss, tag("live_loss")});
    values.push_back({"live_top_1", live.top_1, tag("live_top_1_accuracy")});
    if (HasTopFive(result.classes)) {
      values.push_back({"live_top_5", live.top_5, tag("live_top_5_accuracy")});
    }
  }
  summaries_.Scalars(values, step);
  if (!result.confusion.empty()) {
    summaries_.Add(ImageEvent(UnixSeconds(), step, tag("confusion_matrix"),
                              ConfusionPicture(result)));
  }
  if (!result.roc.empty()) {
    summaries_.Add(
        ImageEvent(UnixSeconds(), step, tag("roc"), RocPicture(result)));
  }
  summaries_.Flush();
  metrics_.Write(subject.is_own() ? "eval" : "other_eval", step, values);
}

std::string EvalFileText(std::int64_t step, const EvalSubject& subject,
                         const EvalResult& result, const ModelLabels& labels) {
  OrderedJson file = {
      {"schema", 1}, {"step", step}, {"bad_records", result.bad_records}};
  if (!subject.is_own()) {
    file["differences"] = subject.differences;
  }
  for (const EventValue& value : ValuesOf(subject, result)) {
    std::visit(
        [&](const auto& plain) {
          // An evaluation has no lists.
          if constexpr (!std::is_same_v<decltype(plain), const EventObjects&>) {
            file[value.name] = plain;
          }
        },
        value.value);
  }
  if (result.live) {
    file["live"]["top_1"] = result.live->top_1;
    if (HasTopFive(result.classes)) {
      file["live"]["top_5"] = result.live->top_5;
    }
    file["live"]["loss"] = result.live->loss;
  }
  if (!result.confusion.empty()) {
    file["classes"] = Classes(result, labels);
    file["confusion"] = ConfusionRows(result);
  }
  if (!result.roc.empty()) {
    file["roc"] = Curve(result);
  }
  // Names may have bytes that are not UTF-8.
  return file.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) +
         "\n";
}

}  // namespace infeed
