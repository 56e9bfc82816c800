#include "trainer/log/train_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pipeline/memory/memory_limit.h"
#include "pipeline/stats/text.h"
#include "records/bytes/hash_text.h"
#include "trainer/log/pictures.h"

namespace infeed {
namespace {

// Images of the first batch written for TensorBoard.
constexpr int kInputPictures = 8;

// Without a backward pass an image takes this factor less time: the estimate
// for evaluations until the first one.
constexpr double kBackwardFactor = 3;

TraceLog* TraceOf(const TrainLogOptions& options) {
  return options.profiler == nullptr ? nullptr : options.profiler->trace();
}

// A block of code in Markdown.
std::string CodeBlock(std::string_view text) {
  std::string block = "    ";
  for (const char c : text) {
    block += c;
    if (c == '\n') {
      block += "    ";
    }
  }
  return block;
}

void Append(EventValues& values, EventValues more) {
  std::ranges::move(more, std::back_inserter(values));
}

// The host never waits for a CPU.
EventValues DeviceValues(const DeviceUse& use) {
  EventValues values = {
      {"device_busy", use.busy_share(), "device/busy"},
      {"tflops", use.tflops(), "device/tflops"},
      {"gb_per_second", use.gb_per_second(), "device/gb_per_second"}};
  if (use.host_syncs > 0) {
    values.push_back({"host_syncs", use.syncs_per_loop(), "device/host_syncs"});
  }
  return values;
}

EventObjects ValuesOf(const std::vector<OperationTotal>& totals) {
  EventObjects values;
  for (const OperationTotal& total : totals) {
    values.push_back({{"name", total.name},
                      {"calls", total.calls},
                      {"seconds", total.seconds},
                      {"share", total.share}});
  }
  return values;
}

// How long the ranks waited for their inputs, as fractions of a loop's time.
// Empty where a single process runs.
EventValues RankValues(const std::optional<RankWaits>& waits, double seconds) {
  if (!waits || seconds <= 0) {
    return {};
  }
  return {
      {"input_wait_of_worst_rank", waits->worst / seconds,
       "ranks/input_wait_worst"},
      {"input_wait_of_ranks", waits->mean / seconds, "ranks/input_wait_mean"}};
}

// Empty where the loss is not scaled.
EventValues LossScaleValues(const StepResult& newest) {
  if (newest.loss_scale == 0) {
    return {};
  }
  return {{"loss_scale", newest.loss_scale, "loss_scale"},
          {"skipped_steps", static_cast<double>(newest.skipped_steps),
           "skipped_steps"}};
}

EventValues FingerprintValues(std::uint64_t fingerprint,
                              const std::optional<InputHash>& hash) {
  if (!hash) {
    return {};
  }
  EventValues values = {{"input_fingerprint", HashText(fingerprint)}};
  if (*hash != InputHash::kRecords) {
    values.push_back(
        {"input_hash", std::string(ChoiceName(*hash, kInputHashes))});
  }
  return values;
}

// How a run ended, where its time went, and its peak memory.
EventValues EndValues(const RunTimes& times, const DeviceCeilings& ceilings,
                      RunEnd end) {
  EventValues values = {{"state", std::string(ChoiceName(end, kRunEnds))},
                        {"seconds", times.total},
                        {"warm_up_seconds", times.start_up + times.warm_up},
                        {"checkpoint_seconds", times.checkpoints},
                        {"evaluation_seconds", times.evaluations},
                        {"between_loops_seconds", times.between},
                        {"tflops_measured", ceilings.tflops},
                        {"gb_per_second_measured", ceilings.gb_per_second},
                        {"peak_memory_bytes", PeakRssBytes()}};
  Append(values, DeviceValues(times.device));
  return values;
}

// The parameters that the user chose, those that follow from the data, and the
// defaults.
HParams ChosenFirst(std::vector<ReportFact> facts) {
  std::ranges::stable_sort(facts, {}, [](const ReportFact& fact) {
    constexpr std::string_view kChoices[] = {"flag", "--params_override",
                                             "config file", "preset"};
    const bool is_chosen =
        std::ranges::any_of(kChoices, [&](std::string_view choice) {
          return fact.origin.starts_with(choice);
        });
    return is_chosen ? 0 : fact.origin.empty() ? 2 : 1;
  });
  HParams hparams;
  for (ReportFact& fact : facts) {
    hparams.emplace_back(std::move(fact.name), std::move(fact.value));
  }
  return hparams;
}

std::vector<HParamsMetric> MetricsOf(const TrainLogOptions& options) {
  std::vector<HParamsMetric> metrics = {{"", "loss", "training loss"}};
  if (options.evaluations) {
    metrics.push_back({"eval", "loss", "evaluation loss"});
    metrics.push_back({"eval", "top_1_accuracy", "top-1"});
  }
  return metrics;
}

}  // namespace

TrainLog::TrainLog(const TrainLogOptions& options)
    : options_(options),
      metrics_(options.model_dir),
      report_(options.model_dir, options.report),
      summaries_(options.model_dir),
      evaluations_(options.model_dir, ModelLabels(options.report.class_names)),
      clock_({.batch_size = options.report.batch_size,
              .warm_up_steps = options.warm_up_steps,
              .trace = TraceOf(options)}),
      state_({.step = options.first_step,
              .total_steps = options.report.total_steps}) {
  EventValues values = {{"batch_size", std::int64_t{options.report.batch_size}},
                        {"total_steps", options.report.total_steps}};
  for (const auto& [name, value] : options.report.origin) {
    values.push_back({name, value});
  }
  Append(values, options.start_values);
  metrics_.Write("start", options.first_step, values);
  const double now = UnixSeconds();
  const HParams hparams = ChosenFirst(options.report.configuration);
  summaries_.Add(TextEvent(now, options.first_step, "configuration",
                           CodeBlock(options.configuration)));
  summaries_.Add(ExperimentEvent(now, hparams, MetricsOf(options)));
  summaries_.Add(SessionStartEvent(now, options.first_step, hparams));
  summaries_.Flush();
}

EventValues TrainLog::State(double images_per_second, double input_wait) const {
  return {{"loss", state_.loss, "loss"},
          {"top_1", state_.top_1, "top_1_accuracy"},
          {"images_per_second", images_per_second},
          {"input_wait", input_wait}};
}

EventValues TrainLog::StepState(double images_per_second,
                                double input_wait) const {
  EventValues values = State(images_per_second, input_wait);
  Append(values,
         {{"learning_rate", state_.learning_rate, "learning_rate"},
          {"",
           static_cast<double>(state_.step) * options_.report.batch_size /
               static_cast<double>(options_.train_images),
           "current_epoch"}});
  Append(values, LossScaleValues(newest_));
  return values;
}

void TrainLog::FirstBatch(const Batch& batch) {
  const int count = std::min(batch.size(), kInputPictures);
  for (int slot = 0; slot < count; ++slot) {
    summaries_.Add(ImageEvent(UnixSeconds(), options_.first_step,
                              fmt::format("inputs/{}", slot),
                              InputPicture(batch, slot)));
  }
  summaries_.Flush();
}

std::optional<double> TrainLog::SecondsLeft() const {
  const double step = clock_.seconds_per_step();
  if (step <= 0) {
    return std::nullopt;
  }
  const std::int64_t steps =
      std::max<std::int64_t>(0, options_.report.total_steps - state_.step);
  const std::int64_t evaluations =
      options_.evaluations ? options_.evaluations->LeftAt(state_.step) : 0;
  const RunTimes times = clock_.times();
  const double evaluation =
      times.evaluation_count > 0
          ? times.evaluations / static_cast<double>(times.evaluation_count)
          : static_cast<double>(options_.eval_images) * step /
                options_.report.batch_size / kBackwardFactor;
  return static_cast<double>(steps) * step +
         static_cast<double>(evaluations) * evaluation;
}

void TrainLog::Step(const StepResult& result, double waited) {
  const TraceLog::Clock::time_point start = TraceLog::Clock::now();
  clock_.Step(waited);
  tally_.Add(result);
  newest_ = result;
  state_.step = result.step;
  state_.loss = result.loss;
  state_.top_1 = result.top_1;
  state_.learning_rate = result.learning_rate;
  state_.images_per_second = clock_.images_per_second();
  state_.input_wait = clock_.input_wait();
  state_.warm_up = clock_.in_warm_up();
  state_.seconds_left = SecondsLeft();
  if (result.step % options_.steps_per_line == 0 && !options_.skip_steps) {
    EventValues values = StepState(state_.images_per_second, state_.input_wait);
    values.push_back({"warm_up", state_.warm_up});
    Write("train", result.step, values);
  }
  progress_.Update(ProgressText(state_));
  if (options_.profiler != nullptr) {
    WriteProfile(options_.profiler->EndIfDue());
  }
  TraceSpan(TraceOf(options_), "result", start, TraceLog::Clock::now(),
            {.step = result.step});
}

void TrainLog::WriteProfile(const std::optional<Profile>& profile) {
  if (!profile) {
    return;
  }
  report_state_.profile = profile;
  const ProfileShares& shares = profile->shares;
  Write("profile", profile->step,
        {{"seconds", profile->seconds},
         {"input_wait", shares.input_wait, "profile/input_wait"},
         {"device", shares.device(), "profile/device"},
         {"checkpoints", shares.checkpoints},
         {"evaluations", shares.evaluations},
         {profile->totals.on_gpu ? "kernels" : "operations_on_host",
          profile->totals.busy},
         {"dearest_operations", ValuesOf(profile->totals.dearest)},
         {"file", profile->path}});
  Say(
      fmt::format("profile of {:.1f} s after step {}: input wait {:.1f} %, "
                  "device {:.1f} %; {}",
                  profile->seconds, profile->step, 100 * shares.input_wait,
                  100 * shares.device(), profile->path));
  if (!profile->problem.empty()) {
    Say("profile without all of the device's operations: " + profile->problem);
  }
}

void TrainLog::EndLoop(const LoopEnd& end, const PipelineStats& input,
                       const PipelineStats& of_all_loops) {
  clock_.EndLoop(end);
  report_state_.input = of_all_loops;
  if (clock_.times().loops == 1) {
    WriteWarmUp(input);
  }
  WriteLoop(end, before_loop_, input.bad_records);
  const std::int64_t bad = of_all_loops.bad_records;
  if (bad > 0 && input.bad_records == bad) {  // None before this loop.
    Say("the first bad record of this run: " + of_all_loops.first_bad_record);
  }
  for (const Scalar& scalar : StatsScalars(input)) {
    summaries_.Scalar(scalar.tag, scalar.value, state_.step);
  }
  summaries_.Flush();
  if (options_.profiler != nullptr) {
    WriteProfile(options_.profiler->EndAfterLoopIfDue());
    options_.profiler->BeginIfDue(end.step);
  }
}

void TrainLog::WriteWarmUp(const PipelineStats& input) {
  const RunTimes times = clock_.times();
  metrics_.Write("warm_up", state_.step,
                 {{"start_up_seconds", times.start_up},
                  {"first_batch_seconds", input.first_wait_seconds},
                  {"seconds", times.warm_up},
                  {"steps", times.warm_up_steps}});
  Say(fmt::format(
      "warm-up: {} in {:.1f} s, {:.1f} s of it for the first "
      "batch (left out of the images/s below)",
      times.warm_up_steps == 1 ? "the first step"
                               : fmt::format("{} steps", times.warm_up_steps),
      times.warm_up, input.first_wait_seconds));
}

// Writes the loop's own values, without the warm-up unless the whole loop is
// warm-up; the device's values cover the whole loop.
void TrainLog::WriteLoop(const LoopEnd& end, const RunTimes& before,
                         std::int64_t bad_records) {
  const RunTimes now = clock_.times();
  RunTimes loop;
  loop.warm_up = now.warm_up - before.warm_up;
  loop.warm_up_steps = now.warm_up_steps - before.warm_up_steps;
  loop.steady = now.steady - before.steady;
  loop.steady_steps = now.steady_steps - before.steady_steps;
  loop.input_wait = now.input_wait - before.input_wait;
  const double rate = loop.images_per_second(options_.report.batch_size);
  const double seconds = loop.warm_up + loop.steady;
  EventValues values = StepState(rate, loop.input_wait_share());
  EventValues own = {{"steps", end.done},
                     {"seconds", seconds},
                     {"warm_up", loop.steady_steps == 0},
                     {"", rate / options_.report.batch_size, "global_step/sec"},
                     {"", rate, "examples/sec"},
                     {"", loop.input_wait_share(), "input_wait"},
                     {"bad_records", bad_records}};
  Append(own, DeviceValues(end.device));
  Append(own, RankValues(end.rank_waits, seconds));
  Append(own, FingerprintValues(end.input_fingerprint, options_.input_hash));
  if (options_.skip_steps && end.done > 0) {  // Else the steps have the curves.
    summaries_.Scalars(values, state_.step);
  }
  summaries_.Scalars(own, state_.step);
  Append(values, std::move(own));
  metrics_.Write("loop", state_.step, values);
}

void TrainLog::Evaluation(std::int64_t step, const EvalResult& result) {
  clock_.EndEvaluation(step);
  evaluations_.Write(step, options_.subject, result);
  report_state_.evaluation = result;
  report_state_.evaluation_step = step;
  WriteReport(step);
  PrintEpoch(step, result);
}

// Prints the line of an epoch that has ended with this evaluation, on stdout
// since it is a result.
void TrainLog::PrintEpoch(std::int64_t step, const EvalResult& result) {
  if (!options_.epoch_lines) {
    return;
  }
  const EpochBatches& epochs = options_.evaluations->epochs;
  const std::int64_t epoch = epochs.EpochsEnded(step);
  if (epochs.Within(epoch) != step) {
    return;
  }
  const RunTimes times = clock_.times();
  const double start =
      std::max(times.start_up, std::exchange(epoch_end_, times.total));
  const auto correct =
      std::llround(result.top_1 * static_cast<double>(result.images));
  fmt::print("{}\n", EpochLine(epoch, tally_.Take(),
                               {.loss = result.loss,
                                .correct = correct,
                                .images = result.images},
                               times.total - start));
  std::fflush(stdout);
}

void TrainLog::WriteReport(std::int64_t step) {
  report_state_.step = step;
  report_state_.times = clock_.times();
  report_state_.ceilings = options_.ceilings;
  report_state_.peak_memory_bytes = PeakRssBytes();
  report_.Write(report_state_);
}

void TrainLog::CheckpointWritten(std::int64_t step, const std::string& folder) {
  clock_.EndCheckpoint(step);
  const RunTimes times = clock_.times();
  metrics_.Write("checkpoint", step,
                 State(times.images_per_second(options_.report.batch_size),
                       times.input_wait_share()));
  Say(fmt::format("checkpoint at step {}: {}", step, folder));
  WriteReport(step);
  options_.on_checkpoint(step, folder);
}

void TrainLog::End(std::int64_t step, RunEnd end) {
  progress_.Finish();
  if (options_.profiler != nullptr) {
    WriteProfile(options_.profiler->End());
  }
  const RunTimes times = clock_.times();
  EventValues values =
      State(times.images_per_second(options_.report.batch_size),
            times.input_wait_share());
  Append(values, EndValues(times, options_.ceilings, end));
  values.push_back({"bad_records", report_state_.input.bad_records});
  metrics_.Write("end", step, values);
  if (end != RunEnd::kStopped) {  // A stopped run will be resumed.
    summaries_.Add(SessionEndEvent(UnixSeconds(), step, end == RunEnd::kDone));
  }
  summaries_.Flush();
  report_state_.end = end;
  WriteReport(step);
  options_.on_end();
}

}  // namespace infeed
