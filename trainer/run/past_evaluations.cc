#include "trainer/run/past_evaluations.h"

#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/params/station_options.h"
#include "trainer/params/validation.h"

namespace infeed {
namespace {

bool HasPlateau(const TrainParams& params) {
  return params.optimizer.learning_rate.schedule == RateSchedule::kPlateau;
}

// A preset's goal may be trained for without evaluations.
bool HasOwnGoal(const Job& job) {
  const auto origin = job.resolved.origins.find("stop_at_top_1");
  return job.params.stop_at_top_1 > 0 &&
         (origin == job.resolved.origins.end() ||
          !origin->second.starts_with("preset "));
}

// Throws UsageError where epoch_lines lacks an evaluation after an epoch.
void RequireEpochEnds(const Job& job) {
  const std::int64_t interval = job.params.steps_per_eval;
  const EpochBatches epochs =
      EpochsOf(job.params, job.options.place.world_size);
  if (interval == 0) {
    return;
  }
  if (epochs.Within(1) != epochs.most()) {
    throw UsageError(fmt::format(
        "epoch_lines=true: needs an evaluation at the end of each epoch; as "
        "epochs have different numbers of steps with last_batch=carry, leave "
        "steps_per_eval={} out",
        interval));
  }
  if (epochs.Within(1) % interval != 0) {
    throw UsageError(fmt::format(
        "epoch_lines=true: needs an evaluation at the end of each epoch, but "
        "steps_per_eval={} does not divide its {} steps",
        interval, epochs.Within(1)));
  }
}

// Throws UsageError if a parameter needs a metric that the evaluations cannot
// have; else the parameter would silently have no effect.
void RequireMetric(const TrainParams& params, const std::string& parameter,
                   const std::string& metric) {
  const std::string why = LacksMetricText(metric, params.num_eval_images,
                                          params.input.num_label_classes);
  if (!why.empty()) {
    throw UsageError(fmt::format(
        "{}: evaluations of {} and {} have no {}: {}", parameter,
        CountText(params.num_eval_images, "image"),
        CountText(params.input.num_label_classes, "class", "classes"), metric,
        why));
  }
}

// Prints which parameters have no effect without evaluations; a preset may have
// set them.
void SayUnused(const TrainParams& params) {
  constexpr const char* kText = "has no effect: this run does not evaluate";
  if (params.stop_at_top_1 > 0) {
    Say(fmt::format("stop_at_top_1={}: {}", params.stop_at_top_1, kText));
  }
  if (params.keep_best != "none") {
    Say(fmt::format("keep_best={}: {}", params.keep_best, kText));
  }
}

}  // namespace

void RequireEvaluations(const Job& job) {
  const TrainParams& params = job.params;
  const std::string user =
      HasPlateau(params)           ? "learning_rate_schedule=plateau"
      : !params.early_stop.empty() ? "early_stop=" + params.early_stop
      : HasOwnGoal(job) ? fmt::format("stop_at_top_1={}", params.stop_at_top_1)
      : params.epoch_lines ? "epoch_lines=true"
                           : "";
  if (!user.empty() && !Evaluates(job)) {
    throw UsageError(user +
                     ": needs mode=train_and_eval, and shards to evaluate");
  }
  if (params.epoch_lines) {
    RequireEpochEnds(job);
  }
}

PastEvaluations::PastEvaluations(const Job& job, std::int64_t step)
    : job_(job),
      validation_(MakeValidation(job.params, job.data, job.options.device)),
      subject_(MakeSubject(validation_, validation_)),
      history_(subject_.key),
      plateau_(ParsePlateau(job.params.plateau)),
      early_stop_(ParseEarlyStop(job.params.early_stop)) {
  if (!Evaluates(job)) {
    SayUnused(job.params);
    return;
  }
  RequireMetrics();
  if (job.ranks.place().is_first()) {
    history_ = ReadEvalHistoryUpTo(step, job.options.model_dir, subject_.key);
  }
  history_ = EvalHistory::Parse(job.ranks.Broadcast(history_.ToJson()));
  SetRate();
}

void PastEvaluations::RequireMetrics() const {
  const TrainParams& params = job_.params;
  RequireMetric(params, "keep_best=" + params.keep_best, params.keep_best);
  if (HasPlateau(params)) {
    RequireMetric(params, "plateau=" + params.plateau, plateau_.metric);
  }
  if (early_stop_) {
    RequireMetric(params, "early_stop=" + params.early_stop,
                  early_stop_->metric);
  }
}

void PastEvaluations::Add(std::int64_t step, const EvalResult& result) {
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
  const std::string& metric = plateau_.metric;
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

bool PastEvaluations::has_reached_goal() const {
  const double goal = job_.params.stop_at_top_1;
  const std::vector<double> values = history_.Values("top_1");
  return goal > 0 && !values.empty() && values.back() >= goal;
}

bool PastEvaluations::is_over() const {
  return has_reached_goal() ||
         (early_stop_ &&
          IsOver(*early_stop_, history_.Values(early_stop_->metric)));
}

std::string PastEvaluations::OverText() const {
  const TrainParams& params = job_.params;
  if (has_reached_goal()) {
    return fmt::format(
        "ended at step {} of {}: top-1 {:.4f} has reached stop_at_top_1={}",
        history_.last_step(), params.train_steps,
        history_.Values("top_1").back(), params.stop_at_top_1);
  }
  return fmt::format("early_stop={}: no better {} in the last {} evaluations",
                     params.early_stop, early_stop_->metric,
                     early_stop_->evaluations);
}

}  // namespace infeed
