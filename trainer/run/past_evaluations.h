#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/checkpoint/eval_history.h"
#include "trainer/results/eval_result.h"
#include "trainer/run/job.h"

namespace infeed {

// Throws UsageError where a parameter needs evaluations that the run has not.
void RequireEvaluations(const Job& job);

// The evaluations of a training, and the decisions made from them: the rate of
// the schedule plateau, early_stop and stop_at_top_1. The decisions after a
// step depend only on the evaluations up to that step, so a resumed run decides
// as an uninterrupted one. All ranks decide the same, since evaluations have
// the same result on all ranks.
//
// One thread at a time; all ranks make the same calls. The job must outlive it.
class PastEvaluations {
 public:
  // Reads the evaluations up to the step at which the training starts, on rank
  // 0 for all, and sets the rate on the device. Requires: RequireEvaluations().
  // Throws UsageError for a metric that the evaluations cannot have, DataError
  // for a damaged file.
  PastEvaluations(const Job& job, std::int64_t step);

  // MakeValidation() of the job, and the subject of the evaluations.
  [[nodiscard]] const RunIdentity& validation() const { return validation_; }
  [[nodiscard]] const EvalSubject& subject() const { return subject_; }

  // Whether the training must be evaluated at this step, at which it resumes,
  // before it goes on: it was killed after the checkpoint, before the
  // evaluation had all of its files.
  [[nodiscard]] bool LacksEvaluationAt(std::int64_t step) const {
    return Evaluates(job_) && EvalStepsOf(job_, step).IsAt(step) &&
           !history_.Has(step);
  }

  // Takes the evaluation of a step, keeps it on the disk, and sets the rate.
  void Add(std::int64_t step, const EvalResult& result);

  // A metric of a step's evaluation, if it has it.
  [[nodiscard]] std::optional<double> Value(std::int64_t step,
                                            std::string_view metric) const {
    return history_.Value(step, metric);
  }

  // Whether stop_at_top_1 or early_stop ends the training, and then the reason.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] std::string OverText() const;

 private:
  void RequireMetrics() const;
  void SetRate();
  [[nodiscard]] bool has_reached_goal() const;

  const Job& job_;
  RunIdentity validation_;
  EvalSubject subject_;
  EvalHistory history_;
  Patience plateau_;
  std::optional<Patience> early_stop_;
  double rate_ = 0;
};

}  // namespace infeed
