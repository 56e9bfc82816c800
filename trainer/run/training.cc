#include "trainer/run/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "trainer/model/cost.h"
#include "trainer/model/non_finite.h"
#include "trainer/params/station_options.h"
#include "trainer/params/validation.h"

namespace infeed {
namespace {

InputOptions OnDevice(InputOptions input, const DeviceLoop& device) {
  input.batch_memory = device.batch_memory();
  return input;
}

bool HasBadWeights(const DeviceLoop& device) {
  return std::ranges::any_of(
      device.FindNonFinite(),
      [](const NonFiniteTensor& tensor) { return tensor.kind == "weights"; });
}

}  // namespace

Training::Training(const Job& job, const TrainingParts& parts,
                   const RunStart& start)
    : job_(job),
      params_(job.params),
      parts_(parts),
      identity_(MakeIdentity(params_, job.data, job.options.place.world_size)),
      keep_(MakeKeepOptions(params_, job.options)),
      device_(job.device),
      ranks_(job.ranks),
      log_(parts.log),
      watch_(parts.watch),
      step_(start.step),
      saved_step_(start.step > 0 ? start.step : -1),
      fed_before_(start.fingerprint),
      fingerprint_(start.fingerprint),
      has_batch_(parts.held != nullptr),
      compared_epoch_(start.stream.epoch),
      records_(std::make_shared<SizedInput>(
          job.data.train_index(),
          WithBadRecordCount(OnDevice(parts.input, job.device)),
          ImageSizeSchedule(params_.image_size_schedule,
                            parts.input.preprocess.image_size),
          start.stream, parts.held)),
      infeed_(records_, parts.input.share(), records_->SizeAt(start.stream),
              parts.input.trace),
      outfeed_([this](const StepResult& result) { Take(result); }) {
  if (ranks_.place().is_first()) {
    const std::string& model_dir = job.options.model_dir;
    best_.emplace(model_dir, params_.keep_best,
                  MakeSubject(parts.validation, parts.validation).key);
    writer_.emplace(model_dir, params_.use_async_checkpointing,
                    [this](std::int64_t saved, const std::string& folder) {
                      log_.CheckpointWritten(saved, folder);
                    });
    // Also of another metric, or in a run without keep_best: the file names it
    // until there is another best.
    keep_.best = RecordedBestStep(model_dir);
  }
  if (!parts_.held) {
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
    RunLoop(std::min(params_.iterations_per_loop, target - step_), stop);
    if (non_finite_step_) {
      return End::kDiverged;
    }
    if (step_ - std::max<std::int64_t>(saved_step_, 0) >=
            params_.steps_per_checkpoint &&
        !SaveCheckpoint()) {
      return End::kDiverged;
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
  const std::optional<RankWaits> rank_waits =
      ExchangeWaits(done < steps || stop.stop_requested(), waited_here);
  log_.EndLoop({.step = step_,
                .done = done,
                .waited = infeed_.wait_seconds(),
                .drained = Seconds(end - device_end).count(),
                .device = use,
                .rank_waits = rank_waits,
                .input_fingerprint = fingerprint_},
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
  // Sums of halves are exact in numbers with 53 bits.
  constexpr int kHalf = 32;
  const std::uint64_t fed = infeed_.mark().fingerprint;
  const std::vector<RankTotal> totals =
      ranks_.Total({stops ? 1.0 : 0.0, waited,
                    static_cast<double>(static_cast<std::uint32_t>(fed)),
                    static_cast<double>(fed >> kHalf)});
  stopped_ = stopped_ || totals[0].most > 0;
  fingerprint_ = fed_before_ + static_cast<std::uint64_t>(totals[2].sum) +
                 (static_cast<std::uint64_t>(totals[3].sum) << kHalf);
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
  const ModelCost cost = ComputeCost(MakeModelOptions(params_), image_size);
  const int images = parts_.input.share();
  const bool in_16_bits = Has16Bits(PrecisionOf(params_, job_.options.device));
  double operations = StepOperations(cost, images);
  double bytes =
      StepBytes(cost, MakeOptimizerOptions(params_), images, in_16_bits);
  if (params_.teacher) {
    const ModelCost teacher = ComputeCost(*params_.teacher, image_size);
    operations += ForwardOperations(teacher, images);
    bytes += ForwardTraffic(teacher, images, in_16_bits);
  }
  const auto count = static_cast<double>(steps);
  return {.loop_seconds = seconds,
          .busy_seconds = seconds - waited,
          .loops = 1,
          .operations = count * operations,
          .bytes = count * bytes};
}

bool Training::SaveCheckpoint() {
  if (saved_step_ == step_) {
    return true;
  }
  RequireSameWeights();
  if (ranks_.Any(HasBadWeights(device_))) {
    return false;
  }
  if (writer_) {
    writer_->Save({.step = step_,
                   .stream = infeed_.position(),
                   .fingerprint = fingerprint_,
                   .identity = identity_,
                   .validation = parts_.validation,
                   .state = device_.Save()},
                  keep_);
  }
  // Waits here for rank 0: inside a step, the others would wait for it only up
  // to the time-out.
  ranks_.Barrier();
  saved_step_ = step_;
  return true;
}

void Training::FinishCheckpoint() {
  if (writer_) {
    writer_->Finish();
  }
}

void Training::NoteEvaluation(std::int64_t step, std::optional<double> value) {
  if (!best_) {
    return;
  }
  FinishCheckpoint();  // Only a checkpoint on disk can be the best.
  if ((step < step_ || saved_step_ == step_) && best_->Note(step, value)) {
    keep_.best = step;
    log_.Say(fmt::format("best {} so far: step {}", params_.keep_best, step));
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
