#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/results/eval_result.h"

namespace infeed {

// The metrics of a training's evaluations, for decisions that depend on all of
// them: the part of a training's state that is not in its checkpoints, since a
// checkpoint is written before its evaluation. In MODEL_DIR/evaluations.json:
// {"schema":1,"validation":"1a2b3c4d",
//  "evaluations":[{"step":7,"top_1":0.5,...},...]}.
//
// One thread at a time.
class EvalHistory {
 public:
  // validation: the key of the evaluations (EvalSubject).
  explicit EvalHistory(std::string validation = "")
      : validation_(std::move(validation)) {}

  // Adds an evaluation, or replaces that of the step.
  void Add(std::int64_t step, const EvalResult& result);
  // Drops the evaluations after a step: those of a course that a resume left.
  void DropAfter(std::int64_t step) {
    metrics_.erase(metrics_.upper_bound(step), metrics_.end());
  }

  [[nodiscard]] bool Has(std::int64_t step) const {
    return metrics_.contains(step);
  }
  // A metric of the evaluation of a step; nullopt: it does not have it.
  [[nodiscard]] std::optional<double> Value(std::int64_t step,
                                            std::string_view metric) const;
  // A metric of all evaluations in the order of their steps; one that an
  // evaluation does not have is not a number.
  [[nodiscard]] std::vector<double> Values(std::string_view metric) const;

  // Converts to JSON without loss. Parse() throws DataError for text that
  // ToJson() did not write.
  [[nodiscard]] std::string ToJson() const;
  [[nodiscard]] static EvalHistory Parse(const std::string& json);

  // The step of the last evaluation; 0: there is none.
  [[nodiscard]] std::int64_t last_step() const {
    return metrics_.empty() ? 0 : metrics_.rbegin()->first;
  }
  [[nodiscard]] const std::string& validation() const { return validation_; }

  friend bool operator==(const EvalHistory&, const EvalHistory&) = default;

 private:
  std::string validation_;
  using Metrics = std::map<std::string, std::optional<double>, std::less<>>;
  std::map<std::int64_t, Metrics> metrics_;  // nullopt: not finite
};

// Reads a model directory's file; an empty history if there is none, or if its
// evaluations have another key. Throws DataError naming the file.
// WriteEvalHistory() writes it, and throws IoError.
[[nodiscard]] EvalHistory ReadEvalHistory(
    const std::string& model_dir, const std::optional<std::string>& key = {});
// The part of the file up to the step from which a training continues. The
// step's own evaluation counts only if its file, which is written last, is a
// regular file that can be read.
[[nodiscard]] EvalHistory ReadEvalHistoryUpTo(std::int64_t step,
                                              const std::string& model_dir,
                                              const std::string& key);
void WriteEvalHistory(const EvalHistory& history, const std::string& model_dir);
// Drops the evaluations after a step, as no training goes on from them: from
// the file, and the evaluations' own files, also those of other data. Throws as
// the two above.
void ForgetEvaluationsAfter(std::int64_t step, const std::string& model_dir);

}  // namespace infeed
