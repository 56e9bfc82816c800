#include "trainer/run/past_evaluations.h"

#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/job/station_options.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/run/train_end.h"
#include "trainer/scores/early_stop.h"

namespace infeed {
namespace {

bool HasPlateau(const TrainParams& params) {
  return params.optimizer.learning_rate.schedule == RateSchedule::kPlateau;
}

// Throws UsageError where a parameter needs evaluations, and there are none.
bool UsesEvaluations(const Job& job) {
  const TrainParams& params = job.params;
  const bool plateau = HasPlateau(params);
  if (!plateau && params.early_stop.empty()) {
    return false;
  }
  if (!Evaluates(job)) {
    throw UsageError((plateau ? "learning_rate_schedule=plateau"
                              : "early_stop=" + params.early_stop) +
                     ": needs mode=train_and_eval, and shards to evaluate");
  }
  return true;
}

}  // namespace

PastEvaluations::PastEvaluations(const Job& job, std::int64_t step)
    : job_(job), is_used_(UsesEvaluations(job)) {
  if (!is_used_) {
    return;
  }
  if (job.ranks.place().is_first()) {
    history_ = ReadEvalHistory(job.options.model_dir);
    history_.DropAfter(step);
  }
  history_ = EvalHistory::Parse(job.ranks.Broadcast(history_.ToJson()));
  SetRate();
}

bool PastEvaluations::LacksEvaluationAt(std::int64_t step) const {
  return is_used_ && EvalStepsOf(job_, step).IsAt(step) && !history_.Has(step);
}

void PastEvaluations::Add(std::int64_t step, const EvalResult& result) {
  if (!is_used_) {
    return;
  }
  history_.Add(step, result);
  if (job_.ranks.place().is_first()) {
    WriteEvalHistory(history_, job_.options.model_dir);
  }
  SetRate();
}

void PastEvaluations::SetRate() {
  if (!HasPlateau(job_.params)) {
    return;
  }
  const std::string& metric = job_.params.plateau_metric;
  const LearningRateOptions options =
      MakeOptimizerOptions(job_.params).learning_rate;
  const double rate =
      PlateauRate(options, metric == "loss", history_.Values(metric));
  if (rate < (rate_ > 0 ? rate_ : PeakRate(options))) {
    Say(fmt::format(
        "learning rate {:.3g} after evaluations without a better {}", rate,
        metric));
  }
  rate_ = rate;
  job_.device.SetPlateauRate(rate);
}

bool PastEvaluations::is_over() const {
  const std::optional<EarlyStop> early_stop =
      ParseEarlyStop(job_.params.early_stop);
  return early_stop && IsOver(*early_stop, history_.Values(early_stop->metric));
}

std::string PastEvaluations::OverText() const {
  const std::optional<EarlyStop> early_stop =
      ParseEarlyStop(job_.params.early_stop);
  return fmt::format("early_stop={}: no better {} in the last {} evaluations",
                     job_.params.early_stop, early_stop->metric,
                     early_stop->patience);
}

}  // namespace infeed
