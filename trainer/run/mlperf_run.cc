#include "trainer/run/mlperf_run.h"

#include <string>
#include <utility>

#include "trainer/job/station_options.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

// Images whose statistics a batch norm uses together.
std::int64_t NormSpan(const Job& job) {
  const TrainParams& params = job.params;
  const int ranks = job.options.place.world_size;
  const int group =
      params.batch_norm_group == 0 ? ranks : params.batch_norm_group;
  return std::int64_t{params.input.batch_size} / ranks * group /
         params.optimizer.accumulation_steps;
}

std::string OptimizerName(OptimizerKind kind) {
  return kind == OptimizerKind::kMomentum
             ? "sgd"
             : std::string(ChoiceName(kind, kOptimizers));
}

}  // namespace

MlperfRun::MlperfRun(const Job& job)
    : epochs_(EpochsOf(job.params, job.options.place.world_size)),
      has_epochs_(!job.options.mllog.empty()),
      log_(job.ranks.place().is_first() ? job.options.mllog : "") {
  log_.Start("init_start", {}, job.options.started);
  WriteSubmission(job);
  WriteTraining(job);
  WriteOptimizer(job);
}

// To submit a result, edit the first four values in the file.
void MlperfRun::WriteSubmission(const Job& job) {
  log_.Point("submission_benchmark",
             std::string(ChoiceName(job.params.model.kind, kModelKinds)));
  log_.Point("submission_org", std::string("infeed"));
  log_.Point("submission_division", std::string("closed"));
  log_.Point("submission_status", std::string("onprem"));
  log_.Point("submission_platform", job.device.Describe());
  log_.Point("cache_clear", false);  // No cache of the machine was cleared.
}

void MlperfRun::WriteTraining(const Job& job) {
  const TrainParams& params = job.params;
  // From 2^63 on, written as a negative number.
  log_.Point("seed", static_cast<std::int64_t>(params.input.seed));
  log_.Point("global_batch_size", std::int64_t{params.input.batch_size});
  log_.Point("gradient_accumulation_steps",
             std::int64_t{params.optimizer.accumulation_steps});
  log_.Point("train_samples", params.num_train_images);
  log_.Point("eval_samples", params.num_eval_images);
  log_.Point("model_bn_span", NormSpan(job));
}

void MlperfRun::WriteOptimizer(const Job& job) {
  const OptimizerOptions optimizer = MakeOptimizerOptions(job.params);
  const LearningRateOptions& rate = optimizer.learning_rate;
  const std::string name = OptimizerName(optimizer.kind);
  log_.Point("opt_name", name);
  log_.Point("opt_base_learning_rate", PeakRate(rate));
  log_.Point("opt_learning_rate_warmup_epochs", WarmupEpochs(rate));
  log_.Point("opt_weight_decay", double{optimizer.weight_decay});
  if (name != "sgd" && name != "lars") {
    return;
  }
  const std::string prefix = name + "_opt_";
  log_.Point(prefix + "base_learning_rate", PeakRate(rate));
  log_.Point(prefix + "end_learning_rate", EndRate(rate));
  log_.Point(prefix + "learning_rate_decay_steps",
             rate.train_steps - WarmupSteps(rate));
  log_.Point(prefix + "momentum", double{optimizer.momentum});
  log_.Point(prefix + "weight_decay", double{optimizer.weight_decay});
  if (name == "lars") {
    log_.Point("lars_epsilon", 0.0);
    log_.Point(prefix + "learning_rate_warmup_epochs", WarmupEpochs(rate));
    log_.Point(prefix + "learning_rate_decay_poly_power", std::int64_t{2});
  } else if (rate.schedule == RateSchedule::kLinear) {
    log_.Point(prefix + "learning_rate_decay_poly_power", std::int64_t{1});
  }
}

std::int64_t MlperfRun::EpochOf(std::int64_t step) const {
  const std::int64_t ended = epochs_.EpochsEnded(step);
  return epochs_.Within(ended) == step ? ended : ended + 1;
}

MlperfLog::Metadata MlperfRun::PlaceOf(std::int64_t step) const {
  return {{"epoch_num", EpochOf(step)}, {"step_num", step}};
}

void MlperfRun::BeginRun() {
  log_.End("init_stop");
  log_.Start("run_start");
}

void MlperfRun::BeginBlock(std::int64_t step, std::int64_t target) {
  block_epoch_ = EpochOf(step + 1);
  log_.Start("block_start",
             {{"first_epoch_num", block_epoch_},
              {"epoch_count", EpochOf(target) - block_epoch_ + 1},
              {"step_num", step}});
}

void MlperfRun::EndBlock(std::int64_t step) {
  log_.End("block_stop",
           {{"first_epoch_num", block_epoch_}, {"step_num", step}});
}

void MlperfRun::BeginEpoch(std::int64_t step) {
  if (!std::exchange(in_epoch_, true)) {
    log_.Start("epoch_start",
               {{"epoch_num", EpochOf(step + 1)}, {"step_num", step}});
  }
}

void MlperfRun::EndEpoch(std::int64_t step) {
  if (epochs_.Within(epochs_.EpochsEnded(step)) == step) {
    in_epoch_ = false;
    log_.End("epoch_stop", PlaceOf(step));
  }
}

void MlperfRun::BeginEvaluation(std::int64_t step) {
  log_.Start("eval_start", PlaceOf(step));
}

void MlperfRun::EndEvaluation(std::int64_t step, double top_1) {
  log_.End("eval_stop", PlaceOf(step));
  log_.Point("eval_accuracy", top_1, PlaceOf(step));
}

void MlperfRun::EndRun(bool good) {
  log_.End("run_stop", {{"status", std::string(good ? "success" : "aborted")}});
}

}  // namespace infeed
