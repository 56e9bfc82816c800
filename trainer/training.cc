#include "trainer/training.h"

#include <algorithm>
#include <chrono>

namespace infeed {

Training::Training(const TrainingOptions& options, const RecordIndex* index,
                   DeviceLoop& device, TrainLog& log, std::int64_t step,
                   const StreamPosition& stream)
    : options_(options),
      device_(device),
      log_(log),
      step_(step),
      saved_step_(step > 0 ? step : -1),
      records_(index, options.input,
               ImageSizeSchedule(options.image_size_schedule,
                                 options.input.image_size),
               stream),
      infeed_(records_.batches(), options.input.batch_size,
              records_.SizeAt(stream)),
      outfeed_([&log](const StepResult& result) { log.Step(result); }) {}

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
  const std::int64_t steps =
      std::min(most_steps, records_.BatchesToChange(infeed_.position()));
  infeed_.ExpectImageSize(records_.SizeAt(infeed_.position()));
  const auto start = std::chrono::steady_clock::now();
  const PipelineStats before = input_stats();
  const double waited_before = infeed_.wait_seconds();
  const std::int64_t done = device_.Train(step_, steps, infeed_, outfeed_);
  outfeed_.Drain();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  step_ += done;
  loop_seconds_ += took.count();
  const double waited = infeed_.wait_seconds() - waited_before;
  log_.Input(input_stats().Since(before));
  log_.Loop(done, took.count(), std::min(1.0, waited / took.count()));
}

void Training::SaveCheckpoint() {
  if (saved_step_ == step_) {
    return;
  }
  const std::string folder =
      infeed::SaveCheckpoint(options_.model_dir,
                             {.step = step_,
                              .stream = infeed_.position(),
                              .identity = options_.identity,
                              .state = device_.Save()},
                             options_.keep_last);
  saved_step_ = step_;
  log_.CheckpointWritten(step_, folder);
}

PipelineStats Training::input_stats() const {
  PipelineStats stats = records_.stats();
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

double Training::input_wait() const {
  return loop_seconds_ > 0
             ? std::min(1.0, infeed_.wait_seconds() / loop_seconds_)
             : 0;
}

}  // namespace infeed
