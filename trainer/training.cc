#include "trainer/training.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "trainer/model_cost.h"

namespace infeed {
namespace {

InputOptions OnDevice(InputOptions input, const DeviceLoop& device) {
  input.batch_memory = device.batch_memory();
  return input;
}

}  // namespace

Training::Training(const TrainingOptions& options, const RecordIndex* index,
                   DeviceLoop& device, TrainLog& log, std::int64_t step,
                   const StreamPosition& stream)
    : options_(options),
      device_(device),
      log_(log),
      step_(step),
      saved_step_(step > 0 ? step : -1),
      records_(index, OnDevice(options.input, device),
               ImageSizeSchedule(options.image_size_schedule,
                                 options.input.image_size),
               stream),
      infeed_(records_.batches(), options.input.batch_size,
              records_.SizeAt(stream)),
      outfeed_([this](const StepResult& result) {
        tally_.Add(result);
        log_.Step(result, infeed_.wait_seconds());
      }),
      best_(options.model_dir, options.keep_best),
      writer_(options.model_dir, options.async_checkpoints,
              [&log](std::int64_t saved, const std::string& folder) {
                log.CheckpointWritten(saved, folder);
              }) {
  options_.keep.best = best_.step();
  infeed_.ShowFirst([&log](const Batch& batch) { log.FirstBatch(batch); });
}

Training::End Training::TrainTo(std::int64_t target,
                                const std::stop_token& stop) {
  const std::stop_callback end_the_stream(stop, [this] { infeed_.Stop(); });
  while (step_ < target && !stop.stop_requested()) {
    RunLoop(std::min(options_.iterations_per_loop, target - step_));
    if (log_.non_finite_step()) {
      return End::kNonFiniteLoss;
    }
    if (step_ - std::max<std::int64_t>(saved_step_, 0) >=
        options_.steps_per_checkpoint) {
      SaveCheckpoint();
    }
  }
  return step_ < target ? End::kStopped : End::kReached;
}

void Training::RunLoop(std::int64_t most_steps) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const std::int64_t steps =
      std::min(most_steps, records_.BatchesToChange(infeed_.position()));
  const int image_size = records_.SizeAt(infeed_.position());
  infeed_.ExpectImageSize(image_size);
  const Clock::time_point start = Clock::now();
  const PipelineStats before = input_stats();
  const double waited = infeed_.wait_seconds();
  const std::int64_t syncs = device_.host_syncs();
  log_.BeginLoop(steps, waited);
  const std::int64_t done = device_.Train(step_, steps, infeed_, outfeed_);
  infeed_.EndStep();
  const Clock::time_point device_end = Clock::now();
  outfeed_.Drain();
  const Clock::time_point end = Clock::now();
  step_ += done;
  loop_seconds_ += Seconds(end - start).count();
  DeviceUse use = UseOf(done, image_size, Seconds(end - start).count(),
                        infeed_.wait_seconds() - waited);
  use.host_syncs = device_.host_syncs() - syncs;
  log_.EndLoop({.step = step_,
                .done = done,
                .waited = infeed_.wait_seconds(),
                .drained = Seconds(end - device_end).count(),
                .device = use},
               input_stats().Since(before), input_stats_of_loops());
}

DeviceUse Training::UseOf(std::int64_t steps, int image_size, double seconds,
                          double waited) const {
  const ModelCost cost = CostOf(options_.model, image_size);
  const int images = options_.input.batch_size / options_.input.world_size;
  const auto count = static_cast<double>(steps);
  return {.loop_seconds = seconds,
          .busy_seconds = seconds - waited,
          .loops = 1,
          .operations = count * StepOperations(cost, images),
          .bytes = count * StepBytes(cost, options_.optimizer, images,
                                     options_.in_bfloat16)};
}

void Training::SaveCheckpoint() {
  if (saved_step_ == step_) {
    return;
  }
  writer_.Save({.step = step_,
                .stream = infeed_.position(),
                .identity = options_.identity,
                .state = device_.Save()},
               options_.keep);
  saved_step_ = step_;
}

void Training::NoteEvaluation(const EvalResult& result) {
  writer_.Finish();  // Only what is on the disk can be the best.
  if (saved_step_ == step_ && best_.Note(step_, result)) {
    options_.keep.best = step_;
    log_.Say(fmt::format("best {} so far: step {}", options_.keep_best, step_));
  }
}

PipelineStats Training::input_stats() const {
  PipelineStats stats = records_.stats();
  stats.first_wait_seconds = infeed_.first_wait_seconds();
  // A device that counts its waits adds them as a loop ends.
  stats.consumer_wait_seconds =
      std::max(0.0, infeed_.wait_seconds() - stats.first_wait_seconds);
  return stats;
}

PipelineStats Training::input_stats_of_loops() const {
  PipelineStats stats = input_stats();
  stats.elapsed_seconds = loop_seconds_;
  return stats;
}

}  // namespace infeed
