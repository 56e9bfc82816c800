#include "tools/train_resnet/command.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "base/shown_text.h"
#include "pipeline/remote/worker_settings.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "tools/cli/build_version.h"
#include "tools/cli/cloud_flags.h"
#include "tools/cli/report_table.h"
#include "tools/cli/signals.h"
#include "tools/input/observation.h"
#include "tools/train_resnet/compare_mode.h"
#include "tools/train_resnet/doctor_report.h"
#include "tools/train_resnet/local_ranks.h"
#include "tools/train_resnet/train_flags.h"
#include "trainer/checkpoint/follower.h"
#include "trainer/params/params.h"
#include "trainer/params/parse.h"
#include "trainer/params/run_options.h"
#include "trainer/params/station_options.h"
#include "trainer/remote/run.h"
#include "trainer/results/model_dir.h"
#include "trainer/run/job.h"
#include "trainer/run/run.h"

namespace infeed {
namespace {

// Makes a trained model's parameters the defaults: in modes that use a trained
// model, puts model_dir's params.yaml below the other layers. Throws IoError.
void TakeModelParameters(const RunOptions& run, ParamLayers& layers) {
  const std::string path = ParamsPath(run.model_dir);
  if (UsesTrainedModel(run.mode) && HasParamFile(path)) {
    layers.model_file = path;
  }
}

// An evaluation that follows a training run may be started before it: waits up
// to eval_timeout for the training run's params.yaml, and takes it as above;
// rank 0 prints that it waits. For other runs does nothing. Returns false when
// the run was asked to stop. Throws UsageError when no params.yaml appeared.
bool AwaitModelParameters(RunOptions& run, ParamLayers& layers,
                          const std::stop_token& stop) {
  if (run.mode != Mode::kEval || !run.eval_timeout ||
      !layers.model_file.empty()) {
    return true;
  }
  const std::string path = ParamsPath(run.model_dir);
  if (run.place.is_first()) {
    fmt::print(stderr,
               "waiting up to {:g} s for {}, which the training run writes\n",
               *run.eval_timeout, ShownText(path));
  }
  const bool came = WaitUntil([&] { return HasParamFile(path); },
                              {.timeout_seconds = *run.eval_timeout,
                               .wait = WaitingUnlessStopped(stop)});
  if (stop.stop_requested()) {
    return false;
  }
  if (!came) {
    throw UsageError(fmt::format(
        "model_dir={}: no params.yaml appeared within {:g} s; start the "
        "training run with this model_dir, or give a longer --eval_timeout",
        run.model_dir, *run.eval_timeout));
  }
  layers.model_file = path;
  run.params = ReadParams(layers);
  return true;
}

// Rethrows the current error with another message.
[[noreturn]] void ThrowRenamed(
    const std::function<std::string(const std::string&)>& rename) {
  try {
    throw;
  } catch (const StoppedError&) {
    throw;
  } catch (const UsageError& error) {
    throw UsageError(rename(error.what()));
  } catch (const DataError& error) {
    throw DataError(rename(error.what()));
  } catch (const std::exception& error) {
    throw IoError(rename(error.what()));
  }
}

// Runs, and uploads as much as possible to the store however the run ends.
ProgramEnd RunWith(RemoteRun& remote, const RunOptions& run,
                   const std::stop_token& stop) {
  ProgramEnd end = ExitCode::kRuntimeError;
  try {
    end = Run(run, stop);
  } catch (const StoppedError&) {  // The run has made no files to upload.
    (void)remote.Finish(end, std::chrono::seconds(0));
    throw;
  } catch (...) {
    (void)remote.Finish(end);
    ThrowRenamed([&](const std::string& text) { return remote.WithUrl(text); });
  }
  return remote.Finish(std::move(end));
}

// A replay needs the state of every checkpoint, and to compute losses one of
// them whole, which depends on the step.
int CheckpointsToRead(const RunOptions& run) {
  if (run.mode != Mode::kReplay) {
    return run.average_checkpoints;
  }
  return run.replay.with_losses ? std::numeric_limits<int>::max() : 0;
}

RemoteRunOptions RemoteOptionsOf(const RunOptions& run,
                                 const StorageFlags& flags,
                                 const std::stop_token& stop) {
  const TrainParams& params = run.params.values;
  return {.folders = {.model_dir = run.model_dir,
                      .export_dir = run.export_dir,
                      .resume = run.resume},
          .weights = {params.resnet_checkpoint,
                      Trains(run.mode) ? params.distill_from : ""},
          .trains = Trains(run.mode),
          .dry_run = run.dry_run,
          .keep = MakeKeepOptions(params, run),
          .checkpoints = CheckpointsToRead(run),
          .reads_log = run.mode == Mode::kReplay,
          .force = run.force,
          .scratch_base = flags.local_scratch_dir,
          .upload_timeout = flags.upload_timeout,
          .stop = stop,
          .say = PrintLine};
}

ProgramEnd RunStored(RunOptions& run, const StorageFlags& flags,
                     const std::stop_token& stop) {
  const std::unique_ptr<RemoteRun> remote =
      run.place.is_first() ? RemoteRun::Begin(RemoteOptionsOf(run, flags, stop))
                           : nullptr;
  if (remote == nullptr) {
    return Run(run, stop);
  }
  const RunFolders& folders = remote->folders();
  run.model_dir = folders.model_dir;
  run.export_dir = folders.export_dir;
  run.resume = folders.resume;
  run.storage = remote.get();
  return RunWith(*remote, run, stop);
}

ProgramEnd PrintFindings(const TrainFlags& flags) {
  if (flags.run.place.is_first()) {
    const ReportTable report = DoctorReport(Examine(flags.run));
    fmt::print("{}", flags.json ? RenderJson(report) : RenderText(report));
  }
  return ExitCode::kDone;
}

// Whether a run itself handles a request to stop; other runs write nothing.
bool StopsByItself(const TrainFlags& flags) {
  return !flags.print_config && !flags.run.dry_run &&
         flags.run.mode != Mode::kCompare && flags.run.mode != Mode::kDoctor;
}

// The message about the effect of a request to stop; rank 0 prints it for all
// ranks.
std::string StopText(const RunOptions& run) {
  if (!run.place.is_first()) {
    return "";
  }
  if (Trains(run.mode)) {
    return "stopping after this step; a second signal ends it now without "
           "saving";
  }
  return run.mode == Mode::kExport
             ? "stopping unless the export is being written; a second signal "
               "ends it now"
             : "stopping after this batch; a second signal ends it now";
}

// Throws if a file named for results is one of the models or parameters;
// OpenData() checks the data's files.
void CheckRunFiles(const RunOptions& run, const std::string& config_file) {
  const TrainParams& params = run.params.values;
  std::vector<std::string> inputs = {config_file, params.loss_class_weights};
  for (const std::string* const model :
       {&run.model_dir, &params.resnet_checkpoint, &params.distill_from}) {
    const std::vector<std::string> files = ModelFiles(*model);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  CheckOutputs(OutputsOf(run), inputs);
}

ProgramEnd RunMode(TrainFlags& flags, const std::stop_token& stop) {
  switch (flags.run.mode) {
    case Mode::kCompare:
      return CompareWith(flags.compare, flags.run, flags.json);
    case Mode::kDoctor:
      return PrintFindings(flags);
    default:
      return RunStored(flags.run, flags.storage, stop);
  }
}

ProgramEnd RunHere(TrainFlags& flags, const std::stop_token& stop) {
  RunOptions& run = flags.run;
  ApplyCloudFlags(flags.cloud);
  SetWorkerTls(flags.worker_tls);
  if (!AwaitModelParameters(run, flags.layers, stop)) {
    return Stopped();
  }
  const bool observes = run.place.is_first() && !run.dry_run;
  run.trace_path = flags.observation.trace;
  run.metrics_path = flags.observation.metrics_file;
  CheckRunFiles(run, flags.layers.config_file);
  Observation observation(observes ? flags.observation : ObservationFlags{},
                          {{"run", run.model_dir}});
  run.live_stats = observation.live();
  run.trace = observation.trace();
  try {
    ProgramEnd end = RunMode(flags, stop);
    observation.Finish();
    return end;
  } catch (const UsageError&) {
    observation.Discard();  // The trace's path may be a file of the data.
    throw;
  }
}

std::string WithRank(const RunOptions& run, const std::string& text) {
  return fmt::format("rank {}: {}", run.place.rank, text);
}

// Runs a rank other than 0, which prints only why it did not succeed, with its
// rank number.
ProgramEnd RunOtherRank(TrainFlags& flags, const std::stop_token& stop) {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) {
    throw IoError("/dev/null", "open", errno);
  }
  try {
    ProgramEnd end = RunHere(flags, stop);
    end.reason = WithRank(flags.run, end.reason);
    return end;
  } catch (...) {
    ThrowRenamed(
        [&](const std::string& text) { return WithRank(flags.run, text); });
  }
}

// Whether the parameters come from a store; a stop token ends its requests.
bool HasParametersInStore(const TrainFlags& flags) {
  return IsUrl(flags.layers.config_file) || IsUrl(flags.run.model_dir);
}

// Whether the parameters come from a pipe, which may never get a writer. A
// signal can simply end the process then, since nothing has begun.
bool MayWaitForParameters(const TrainFlags& flags) {
  std::error_code ignored;
  return std::filesystem::is_fifo(flags.layers.config_file, ignored);
}

void TakeParameters(TrainFlags& flags) {
  RunOptions& run = flags.run;
  TakeModelParameters(run, flags.layers);
  run.params = ReadParams(flags.layers);
  if (run.place.is_first()) {
    for (const auto& [name, note] : run.params.notes) {
      PrintLine(note);
    }
  }
}

ProgramEnd RunRanks(const TrainFlags& flags, int argc, char** argv) {
  if (!flags.run.place.is_alone()) {
    throw UsageError(fmt::format(
        "--local_ranks={}: it starts ranks itself, but this process is {}",
        flags.local_ranks, flags.run.place.Describe()));
  }
  return RunLocalRanks(flags.local_ranks, RankArguments(argc, argv));
}

// signals: handles requests to stop; reset before this process starts ranks,
// which handle signals themselves.
ProgramEnd RunCommand(TrainFlags& flags, std::optional<SignalStop>& signals,
                      int argc, char** argv) {
  const std::stop_token stop = signals ? signals->token() : std::stop_token();
  EndCloudRequestsAt(stop);
  if (HasParametersInStore(flags)) {
    TakeParameters(flags);
  }
  RunOptions& run = flags.run;
  if (flags.print_config) {
    fmt::print("{}", run.place.is_first() ? ConfigText(run) : "");
    return ExitCode::kDone;
  }
  if (flags.local_ranks > 1) {
    signals.reset();
    if (stop.stop_requested()) {
      throw StoppedError();
    }
    return RunRanks(flags, argc, argv);
  }
  return run.place.is_first() ? RunHere(flags, stop)
                              : RunOtherRank(flags, stop);
}

}  // namespace

ProgramEnd TrainResnet(int argc, char** argv) {
  std::optional<TrainFlags> flags = ReadTrainFlags(argc, argv);
  if (!flags) {
    return ExitCode::kDone;
  }
  RunOptions& run = flags->run;
  run.command.assign(argv, argv + argc);
  run.version = BuildVersion();
  run.commit = BuildCommit();
  run.place = FindRank(flags->rank, ProcessEnvironment());
  const bool stops = StopsByItself(*flags);
  if (!stops || MayWaitForParameters(*flags)) {
    ReleaseSignals();
  }
  if (!HasParametersInStore(*flags)) {
    TakeParameters(*flags);
  }
  if (stops) {
    KeepSignals();
  }
  // With a launcher its ranks handle the signals.
  std::optional<SignalStop> signals;
  if (stops && (flags->local_ranks <= 1 || HasParametersInStore(*flags))) {
    signals.emplace(StopText(run));
  }
  try {
    return RunCommand(*flags, signals, argc, argv);
  } catch (const StoppedError& error) {
    return {ExitCode::kStoppedBySignal,
            fmt::format("{}; run the same command again", error.what())};
  }
}

}  // namespace infeed
