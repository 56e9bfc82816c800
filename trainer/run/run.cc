#include "trainer/run/run.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "pipeline/memory/kept_heap.h"
#include "records/files/folder_claim.h"
#include "records/files/side_file.h"
#include "trainer/feed/run_input.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/params/class_weights.h"
#include "trainer/params/params.h"
#include "trainer/params/precision_trial.h"
#include "trainer/params/resumed_run.h"
#include "trainer/params/station_options.h"
#include "trainer/params/teacher.h"
#include "trainer/params/weights_variant.h"
#include "trainer/remote/run.h"
#include "trainer/results/model_dir.h"
#include "trainer/run/job.h"
#include "trainer/run/memory.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

void PrintData(const RunOptions& options, const DataSet& data) {
  if (!options.data_dir.empty()) {
    Say("data:   " + data.Describe());
  }
  for (const std::string& note : data.Notes(options.params.values.input)) {
    Say("data:   " + note);
  }
}

void PrintStart(const Job& job) {
  if (!job.ranks.place().is_alone()) {
    Say("ranks:  " + job.ranks.place().Describe());
  }
  Say("device: " + job.device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelName(job.params),
                  job.device.parameter_count()));
  if (job.options.dry_run) {
    SayLines("parameters:\n" + ToYaml(job.resolved));
  } else if (Trains(job.options.mode)) {
    SayLines(
        "parameters that are not defaults (params.yaml has all of them):\n" +
        ChosenText(job.resolved));
  }
  if (Trains(job.options.mode)) {
    SayClassWeights(job.params);
    SayScheduleAdvice(job.resolved, job.data);
  }
  if (job.options.mode == Mode::kTrainAndEval && !job.data.has_eval()) {
    Say("there are no data of the splits validation or test: this run only "
        "trains");
  }
}

Work Prepare(const Job& job, Preparation& preparation) {
  switch (job.options.mode) {
    case Mode::kEval:
      return PrepareEvaluation(job, preparation);
    case Mode::kPredict:
      return PreparePrediction(job, preparation);
    case Mode::kExport:
      return PrepareExport(job, preparation);
    case Mode::kTrain:
    case Mode::kTrainAndEval:
    case Mode::kReplay:   // See ReplaySteps().
    case Mode::kCompare:  // See CompareRuns().
    case Mode::kDoctor:   // See Examine().
      break;
  }
  return PrepareTraining(job, preparation);
}

// The number of ranks that share the run's batches; in a dry run, of the
// planned run.
int RanksOf(const RunOptions& options) {
  return std::max(options.place.world_size, options.planned_ranks);
}

// Whether only rank 0 has work to do.
bool IsForOne(const RunOptions& options) {
  return options.dry_run || options.mode == Mode::kPredict ||
         options.mode == Mode::kExport || options.mode == Mode::kReplay;
}

// Opens the data on the first rank of each machine before the others, which
// then use the index files that it wrote.
DataSet DataInTurn(const RunOptions& options, Ranks& ranks) {
  const bool is_first_here = options.place.local_rank == 0;
  DataSet data;
  if (is_first_here) {
    data = OpenData(options);
  }
  ranks.Barrier();
  if (!is_first_here) {
    data = OpenData(options);
  }
  return data;
}

DeviceOptions DeviceOfJob(const RunOptions& options,
                          const TrainParams& params) {
  DeviceOptions device = MakeDeviceOptions(params, options.device);
  device.threads = ThreadsOf(options.place);
  device.rank_timeout = options.rank_timeout;
  device.say = Say;
  return device;
}

// Throws unless all ranks have the same settings; else their sums would be
// wrong.
void RequireSameRun(const RunOptions& options, const RunParams& resolved,
                    const DataSet& data, Ranks& ranks) {
  std::string identity = data.Describe();
  const int sharing = Trains(options.mode) ? options.place.world_size : 1;
  for (const auto& [name, value] :
       MakeIdentity(resolved.values, data, sharing)) {
    identity += fmt::format("\n{} {}", name, value);
  }
  identity +=
      fmt::format("\nclass weights {}",
                  fmt::join(resolved.values.optimizer.loss.class_weights, " "));
  ranks.RequireSame("data", identity);
  const DeviceOptions device = DeviceOfJob(options, resolved.values);
  ranks.RequireSame(
      "parameters",
      fmt::format("{}mode {}\nprecision {}\nLibTorch {}", ToYaml(resolved),
                  static_cast<int>(options.mode),
                  static_cast<int>(device.precision), TorchVersion()));
}

// Creates the model directory and locks it against other training runs; a dry
// run only tries an existing lock. For a model directory in an object store,
// the scratch folder is already created and locked.
std::unique_ptr<FolderClaim> ClaimModelDir(const RunOptions& options) {
  constexpr const char* kLock = ".lock";
  const RemoteRun* const storage = options.storage;
  const bool writes_here = Trains(options.mode) && options.place.is_first() &&
                           (storage == nullptr || !storage->HasModelDir());
  if (!writes_here) {
    return nullptr;
  }
  RequireWritableModelDir(options.model_dir);
  if (options.dry_run &&
      !std::filesystem::exists(PathIn(options.model_dir, kLock))) {
    return nullptr;
  }
  return std::make_unique<FolderClaim>(options.model_dir, kLock,
                                       FolderClaim::Kind::kAlone);
}

// Passes the teacher to the device. All ranks have a teacher, or none.
void BeginTeaching(const Teacher& teacher, DeviceLoop& device, Ranks& ranks) {
  Say("teacher: " + teacher.text);
  ranks.RequireSame("teachers", std::to_string(device.SetTeacher(
                                    teacher.model, teacher.weights)));
}

// The inputs of a run, in the order in which they are found.
struct Parts {
  DataSet data = {};
  RunParams resolved = {};
  std::optional<Teacher> teacher = {};
  std::unique_ptr<FolderClaim> claim = {};
};

// Finds model and data, and resolves the parameters. Returns false where a dry
// run cannot go on.
bool PrepareParameters(const RunOptions& options, Ranks& ranks,
                       Preparation& preparation, Parts& parts) {
  const bool has_model = preparation.Do([&] {
    if (options.place.is_first()) {
      RequireModel(options);
    }
  });
  const bool has_data = preparation.Do([&] {
    parts.data = DataInTurn(options, ranks);
    RequireSplits(options, parts.data);
  });
  return has_model && has_data && preparation.Do([&] {
    parts.resolved = Resolve(options.params, options.device, parts.data,
                             Trains(options.mode) ? RanksOf(options) : 1);
    if (options.mode != Mode::kEval && options.mode != Mode::kPredict) {
      RequireAllClasses(parts.data.labels(), parts.resolved.values);
    }
  });
}

// Prepares the remaining parts that do not need the device.
void PrepareParts(const RunOptions& options, Ranks& ranks,
                  Preparation& preparation, Parts& parts) {
  const DataSet& data = parts.data;
  RunParams& resolved = parts.resolved;
  preparation.Do([&] {
    KeepStartingWeights(options, ranks, resolved);
    FollowWeights(options, ranks, resolved);
  });
  if (Trains(options.mode)) {
    preparation.Do([&] { CheckDevice(resolved.values, options.device); });
    preparation.Do([&] { ResolveClassWeights(data, resolved); });
    if (!resolved.values.distill_from.empty()) {
      preparation.Do([&] {
        parts.teacher = FindTeacher(options, resolved,
                                    DataLabels(resolved.values, data).names());
      });
    }
  }
  if (!preparation.is_dry_run()) {
    SettlePrecision(options, ranks, resolved);
  }
  if (options.mode != Mode::kExport) {
    preparation.Do(
        [&] { RequireUsablePrecision(resolved.values, options.device); });
  }
  RequireSameRun(options, resolved, data, ranks);
  preparation.Do([&] { parts.claim = ClaimModelDir(options); });
  PrintData(options, data);
  if (!data.is_fake() && !options.data_dir.empty()) {
    Say("labels: " + LabelsText(data.labels(), resolved.values));
  }
}

// Makes the device and prepares the mode on it; then, unless in a dry run,
// works.
ProgramEnd RunOnDevice(const RunOptions& options, Ranks& ranks,
                       Preparation& preparation, Parts& parts,
                       const MemoryThere& memory, const std::stop_token& stop) {
  const TrainParams& params = parts.resolved.values;
  DeviceOptions device_options = DeviceOfJob(options, params);
  device_options.ranks = &ranks;
  std::unique_ptr<DeviceLoop> device;
  if (!preparation.Do([&] {
        device = MakeDeviceLoop(MakeModelOptions(params),
                                MakeOptimizerOptions(params), device_options);
      })) {
    Forecast(options, parts.data, parts.resolved, preparation);
    return preparation.End();
  }
  const Job job{options, parts.resolved, params, parts.data,
                *device, ranks,          memory, ReadCpuTimes()};
  PrintStart(job);
  if (preparation.is_dry_run()) {
    Forecast(options, parts.data, parts.resolved, preparation);
  }
  if (parts.teacher) {
    BeginTeaching(*std::exchange(parts.teacher, std::nullopt), *device, ranks);
  }
  if (!Trains(options.mode)) {
    const MemoryNeed need = EvaluationNeed(options, params);
    WarnOfMemory(need, WithGpu(memory, need));
  }
  const Work work = Prepare(job, preparation);
  return preparation.is_dry_run() ? preparation.End() : work(stop);
}

// A run is its preparation, then its work; a dry run ends in between.
ProgramEnd RunTogether(const RunOptions& given, Ranks& ranks,
                       const std::stop_token& stop) {
  Preparation preparation(given.dry_run);
  RunOptions options = given;
  if (!preparation.Do([&] {
        options.device = DeviceOfRank(given.device, given.place);
        (void)IsGpu(options.device);
      })) {
    options.device = "cpu";  // for the other checks
  }
  preparation.Do([&] {
    if (options.place.is_first()) {
      RequireWritableFile(options.trace_path);
      RequireWritableFile(options.metrics_path);
    }
  });
  Parts parts;
  if (!PrepareParameters(options, ranks, preparation, parts)) {
    return preparation.End();
  }
  PrepareParts(options, ranks, preparation, parts);
  const MemoryThere memory = FindMemory();
  const MemoryNeed most = EstimateNeed(options, parts.resolved.values);
  if (!most.on_gpu && !preparation.is_dry_run()) {
    KeepHeap(static_cast<std::size_t>(most.device));
  } else if (!parts.resolved.values.input.workers.empty()) {
    KeepMessageMemory();
  }
  ProgramEnd end = ExitCode::kRuntimeError;
  TranslateTorchErrors(
      [&] {
        end = RunOnDevice(options, ranks, preparation, parts, memory, stop);
      },
      MakeOutOfMemoryText(most, memory));
  return end;
}

// Sends an error of this rank to the others, unless it only follows from an
// error of another rank: then throws that one, since a broken connection's own
// error does not name the cause.
ProgramEnd RunAndReportErrors(const RunOptions& options, Ranks& ranks,
                              const std::stop_token& stop) {
  constexpr std::chrono::seconds kEcho{3};
  try {
    return RunTogether(options, ranks, stop);
  } catch (const UnusableCheckpoints&) {
    throw;  // on all ranks
  } catch (const StoppedError& error) {
    ranks.Fail(error.what());
    throw;
  } catch (const IoError& error) {
    if (const std::optional<std::string> why = ranks.EndReason(kEcho)) {
      throw IoError(*why);
    }
    ranks.Fail(error.what());
    throw;
  } catch (const std::exception& error) {
    ranks.Fail(error.what());
    throw;
  }
}

}  // namespace

std::string ConfigText(const RunOptions& options) {
  return ToYaml(options.data_dir.empty()
                    ? options.params
                    : Resolve(options.params, options.device, OpenData(options),
                              options.place.world_size));
}

namespace {

ProgramEnd Dispatch(RunOptions options, const std::stop_token& stop) {
  if (IsForOne(options)) {
    if (!options.place.is_first()) {
      return ExitCode::kDone;
    }
    options.planned_ranks = Trains(options.mode) ? options.place.world_size : 1;
    // Closes the socket to which the ranks would have connected.
    const Descriptor unused(std::exchange(options.place, {}).listener);
  }
  if (!options.place.is_first()) {
    SuppressMessages();
  }
  if (options.mode == Mode::kReplay) {
    return ReplaySteps(options, stop);
  }
  std::optional<WithoutSideFiles> nothing_is_written;
  if (options.dry_run) {
    nothing_is_written.emplace();
  }
  const std::unique_ptr<Ranks> ranks =
      JoinRanks(options.place, options.rank_timeout);
  return RunAndReportErrors(options, *ranks, stop);
}

}  // namespace

ProgramEnd Run(const RunOptions& options, const std::stop_token& stop) {
  const UrlsInMessages urls(options.storage == nullptr
                                ? UrlsInMessages::Rename()
                                : [&](const std::string& text) {
                                    return options.storage->WithUrl(text);
                                  });
  ProgramEnd end = ExitCode::kRuntimeError;
  TranslateTorchErrors([&] {
    try {
      end = Dispatch(options, stop);
    } catch (const UnusableCheckpoints& error) {
      end = {ExitCode::kCheckpointUnusable, error.what()};
    }
  });
  return end;
}

}  // namespace infeed
