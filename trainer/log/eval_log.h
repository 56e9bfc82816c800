#pragma once

#include <cstdint>
#include <string>

#include "trainer/log/summary_writer.h"
#include "trainer/results/eval_result.h"
#include "trainer/results/metrics_log.h"
#include "trainer/results/model_labels.h"

namespace infeed {

// Writes the evaluations of a model directory: to metrics.jsonl, to the
// TensorBoard events in eval/ (numbers and pictures), and to EvalPath(), whose
// file a second evaluation of a step replaces. An evaluation that is not the
// training's own has a file, an event and tags with the name of its subject.
//
// One thread at a time. Throws IoError.
class EvalLog {
 public:
  // labels: the names of the model's classes.
  EvalLog(const std::string& model_dir, ModelLabels labels);

  void Write(std::int64_t step, const EvalSubject& subject,
             const EvalResult& result);

 private:
  void WriteCurves(std::int64_t step, const EvalSubject& subject,
                   const EvalResult& result);

  std::string model_dir_;
  ModelLabels labels_;
  MetricsLog metrics_;
  SummaryWriter summaries_;
};

// An evaluation's result as one JSON object, schema 1; docs/evaluation.md has
// the fields. Numbers that are not finite are null.
[[nodiscard]] std::string EvalFileText(std::int64_t step,
                                       const EvalSubject& subject,
                                       const EvalResult& result,
                                       const ModelLabels& labels);

}  // namespace infeed
