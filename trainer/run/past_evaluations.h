#pragma once

#include <cstdint>
#include <string>

#include "trainer/checkpoint/eval_history.h"
#include "trainer/job/job.h"
#include "trainer/scores/eval_result.h"

namespace infeed {

// What a training decides from all of its evaluations: the rate of the schedule
// plateau, and early_stop. The decisions after a step depend only on the
// evaluations up to it, so a resumed run takes those of an uninterrupted one.
// They are the same on all ranks, since an evaluation's result is.
//
// One thread at a time; all ranks make the same calls. The job must outlive it.
class PastEvaluations {
 public:
  // Reads the evaluations up to the step at which the training starts, on rank
  // 0 for all, and sets the rate on the device. Throws UsageError where the
  // training needs evaluations and has none, DataError for a damaged file.
  PastEvaluations(const Job& job, std::int64_t step);

  // Whether the training must be evaluated at this step, at which it resumes,
  // before it goes on: it was killed after the checkpoint.
  [[nodiscard]] bool LacksEvaluationAt(std::int64_t step) const;

  // Takes the evaluation of a step, keeps it on the disk, and sets the rate.
  void Add(std::int64_t step, const EvalResult& result);

  // Whether early_stop ends the training, and then the reason.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] std::string OverText() const;

 private:
  void SetRate();

  const Job& job_;
  bool is_used_;
  EvalHistory history_;
  double rate_ = 0;
};

}  // namespace infeed
