#include "trainer/run/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "trainer/model/cost.h"
#include "trainer/params/validation.h"

namespace infeed {
namespace {

InputOptions OnDevice(InputOptions input, const DeviceLoop& device) {
  input.batch_memory = device.batch_memory();
  return input;
}

}  // namespace

Training::Training(const TrainingOptions& options, const RecordIndex* index,
                   const TrainingParts& with, std::int64_t step,
                   const StreamPosition& stream)
    : options_(options),
      device_(with.device),
      ranks_(with.ranks),
      log_(with.log),
      watch_(with.watch),
      step_(step),
      saved_step_(step > 0 ? step : -1),
      has_batch_(options.images == ImagePlace::kDevice),
      compared_epoch_(stream.epoch),
      records_(std::make_shared<SizedInput>(
          index, WithBadRecordCount(OnDevice(options.input, with.device)),
          ImageSizeSchedule(options.image_size_schedule,
                            options.input.preprocess.image_size),
          stream, options.images)),
      infeed_(records_, options.input.share(), records_->SizeAt(stream),
              options.input.trace),
      outfeed_([this](const StepResult& result) { Take(result); }) {
  if (ranks_.place().is_first()) {
    best_.emplace(options.model_dir, options.keep_best,
                  MakeSubject(options.validation, options.validation).key);
    writer_.emplace(options.model_dir, options.async_checkpoints,
                    [this](std::int64_t saved, const std::string& folder) {
                      log_.CheckpointWritten(saved, folder);
                    });
    options_.keep.best = best_->step();
  }
  if (options_.images == ImagePlace::kRecords) {
    infeed_.ShowFirst([this](const Batch& batch) {
      log_.FirstBatch(batch);
      has_batch_ = true;
      watch_.Begin(step_ + 1);
    });
  }
}

// In a single process the pipeline itself counts the bad records.
InputOptions Training::WithBadRecordCount(InputOptions input) {
  if (ranks_.place().is_alone() || input.max_bad_records < 0) {
    return input;
  }
  bad_records_.emplace(input.max_bad_records);
  input.on_bad = [this](const BadRecord& bad) { bad_records_->Note(bad); };
  return input;
}

// Runs in the outfeed's thread.
void Training::Take(const StepResult& result) {
  if (!std::isfinite(result.loss) && !non_finite_step_) {
    non_finite_step_ = result.step;
  }
  watch_.Done(result.step);
  log_.Step(result, infeed_.wait_seconds());
}

// A single process just ends its stream; several ranks must agree on a step.
void Training::RequestEnd() {
  watch_.StopRequested();
  if (ranks_.place().is_alone()) {
    infeed_.Stop();
  } else {
    infeed_.RequestEnd();
  }
}

Training::End Training::TrainTo(std::int64_t target,
                                const std::stop_token& stop) {
  const std::stop_callback end_the_stream(stop, [this] { RequestEnd(); });
  stopped_ = ranks_.Any(stop.stop_requested());
  while (step_ < target && !stopped_) {
    RunLoop(std::min(options_.iterations_per_loop, target - step_), stop);
    if (non_finite_step_) {
      return End::kNonFiniteLoss;
    }
    if (step_ - std::max<std::int64_t>(saved_step_, 0) >=
        options_.steps_per_checkpoint) {
      SaveCheckpoint();
    }
  }
  return step_ < target ? End::kStopped : End::kReached;
}

void Training::RunLoop(std::int64_t most_steps, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const std::int64_t steps =
      std::min(most_steps, records_->BatchesOfSameSize(infeed_.position()));
  const ImageSize image_size = records_->SizeAt(infeed_.position());
  infeed_.ExpectImageSize(image_size);
  const Clock::time_point start = Clock::now();
  const PipelineStats before = input_stats();
  const double waited = infeed_.wait_seconds();
  const std::int64_t syncs = device_.host_syncs();
  log_.BeginLoop(waited);
  if (has_batch_) {
    watch_.Begin(step_ + 1);
  }
  const std::int64_t done = device_.Train(step_, steps, infeed_, outfeed_);
  infeed_.EndStep();
  const Clock::time_point device_end = Clock::now();
  outfeed_.Drain();
  watch_.Pause();
  const Clock::time_point end = Clock::now();
  step_ += done;
  loop_seconds_ += Seconds(end - start).count();
  const double waited_here = infeed_.wait_seconds() - waited;
  DeviceUse use =
      MeasureUse(done, image_size, Seconds(end - start).count(), waited_here);
  use.host_syncs = device_.host_syncs() - syncs;
  log_.EndLoop({.step = step_,
                .done = done,
                .waited = infeed_.wait_seconds(),
                .drained = Seconds(end - device_end).count(),
                .device = use,
                .rank_waits = ExchangeWaits(
                    done < steps || stop.stop_requested(), waited_here)},
               input_stats().Since(before), input_stats_of_loops());
  if (bad_records_) {
    bad_records_->Meet(infeed_.position(), ranks_);
  }
  if (infeed_.position().epoch != compared_epoch_) {
    RequireSameWeights();
  }
}

// Returns how long the ranks waited for their inputs in the loop.
std::optional<RankWaits> Training::ExchangeWaits(bool stops, double waited) {
  const std::vector<RankTotal> totals =
      ranks_.Total({stops ? 1.0 : 0.0, waited});
  stopped_ = stopped_ || totals[0].most > 0;
  if (ranks_.place().is_alone()) {
    return std::nullopt;
  }
  return RankWaits{.worst = totals[1].most,
                   .mean = totals[1].sum / ranks_.place().world_size};
}

// All ranks have made the same updates from the same sums: a difference is a
// bug or a hardware fault.
void Training::RequireSameWeights() {
  compared_epoch_ = infeed_.position().epoch;
  if (!ranks_.place().is_alone()) {
    ranks_.RequireSame(fmt::format("weights after step {}", step_),
                       std::to_string(device_.Hash()));
  }
}

DeviceUse Training::MeasureUse(std::int64_t steps, const ImageSize& image_size,
                               double seconds, double waited) const {
  const ModelCost cost = ComputeCost(options_.model, image_size);
  const int images = options_.input.share();
  double operations = StepOperations(cost, images);
  double bytes =
      StepBytes(cost, options_.optimizer, images, options_.in_bfloat16);
  if (options_.teacher) {
    const ModelCost teacher = ComputeCost(*options_.teacher, image_size);
    operations += ForwardOperations(teacher, images);
    bytes += ForwardTraffic(teacher, images, options_.in_bfloat16);
  }
  const auto count = static_cast<double>(steps);
  return {.loop_seconds = seconds,
          .busy_seconds = seconds - waited,
          .loops = 1,
          .operations = count * operations,
          .bytes = count * bytes};
}

void Training::SaveCheckpoint() {
  if (saved_step_ == step_) {
    return;
  }
  RequireSameWeights();
  if (writer_) {
    writer_->Save({.step = step_,
                   .stream = infeed_.position(),
                   .identity = options_.identity,
                   .validation = options_.validation,
                   .state = device_.Save()},
                  options_.keep);
  }
  // Waits here for rank 0: inside a step, the others would wait for it only up
  // to the time-out.
  ranks_.Barrier();
  saved_step_ = step_;
}

void Training::FinishCheckpoint() {
  if (writer_) {
    writer_->Finish();
  }
}

void Training::NoteEvaluation(std::optional<double> value) {
  if (!best_) {
    return;
  }
  FinishCheckpoint();  // Only a checkpoint on disk can be the best.
  if (saved_step_ == step_ && best_->Note(step_, value)) {
    options_.keep.best = step_;
    log_.Say(fmt::format("best {} so far: step {}", options_.keep_best, step_));
  }
}

PipelineStats Training::input_stats() const {
  PipelineStats stats = records_->stats();
  stats.first_wait_seconds = infeed_.first_wait_seconds();
  stats.consumer_wait_seconds =
      infeed_.wait_seconds() - stats.first_wait_seconds;
  return stats;
}

PipelineStats Training::input_stats_of_loops() const {
  PipelineStats stats = input_stats();
  stats.elapsed_seconds = loop_seconds_;
  return stats;
}

}  // namespace infeed
