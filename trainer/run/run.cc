#include "trainer/run/run.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "pipeline/memory/kept_heap.h"
#include "records/bytes/stopped_error.h"
#include "records/files/folder_claim.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/job/class_weights.h"
#include "trainer/job/job.h"
#include "trainer/job/memory.h"
#include "trainer/job/precision_trial.h"
#include "trainer/job/station_options.h"
#include "trainer/job/teacher.h"
#include "trainer/log/run_storage.h"
#include "trainer/params/params.h"
#include "trainer/ranks/parts.h"
#include "trainer/ranks/socket.h"
#include "trainer/run/dry_run.h"

namespace infeed {
namespace {

void PrintStart(const Job& job) {
  if (!job.options.data_dir.empty()) {
    Say("data:   " + job.data.Describe());
  }
  for (const std::string& note : job.data.Notes(job.params.input)) {
    Say("data:   " + note);
  }
  if (!job.data.is_fake()) {
    Say("labels: " + LabelsText(job.data.labels(), job.params));
  }
  if (!job.ranks.place().is_alone()) {
    Say("ranks:  " + job.ranks.place().Describe());
  }
  Say("device: " + job.device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelName(job.params),
                  job.device.parameter_count()));
  if (Trains(job.options.mode)) {
    Say("parameters that are not defaults (params.yaml has all of them):\n" +
        ChosenText(job.resolved));
    SayClassWeights(job.params);
    SayScheduleAdvice(job.resolved, job.data);
  }
  if (job.options.mode == Mode::kTrainAndEval && !job.data.has_eval()) {
    Say("there are no data of the splits validation or test: this run only "
        "trains");
  }
}

ProgramEnd RunMode(const Job& job, const std::stop_token& stop) {
  switch (job.options.mode) {
    case Mode::kEval:
      return EvalMode(job, stop);
    case Mode::kPredict:
      return PredictMode(job, stop);
    case Mode::kExport:
      return ExportMode(job, stop);
    case Mode::kTrain:
    case Mode::kTrainAndEval:
    case Mode::kDoctor:  // done already
      break;
  }
  return TrainMode(job, stop);
}

// Whether only rank 0 has work to do.
bool IsForOne(const RunOptions& options) {
  return options.dry_run || options.mode == Mode::kDoctor ||
         options.mode == Mode::kPredict || options.mode == Mode::kExport;
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

// Throws unless all ranks have the same settings, which their sums need.
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

// Creates the model directory and locks it against other training runs. For one
// in an object store, the scratch folder is already created and locked.
std::unique_ptr<FolderClaim> ClaimModelDir(const RunOptions& options) {
  const RunStorage* const storage = options.storage;
  const bool writes_here = Trains(options.mode) && options.place.is_first() &&
                           (storage == nullptr || !storage->HasModelDir());
  return writes_here ? std::make_unique<FolderClaim>(options.model_dir, ".lock",
                                                     FolderClaim::Kind::kAlone)
                     : nullptr;
}

// All ranks have a teacher, or none. Frees the memory of its weights.
void BeginTeaching(const Teacher& teacher, DeviceLoop& device, Ranks& ranks) {
  Say("teacher: " + teacher.text);
  ranks.RequireSame("teachers", std::to_string(device.SetTeacher(
                                    teacher.model, teacher.weights)));
}

ProgramEnd RunTogether(const RunOptions& options, Ranks& ranks,
                       const std::stop_token& stop) {
  if (options.place.is_first()) {
    RequireModel(options);
  }
  const DataSet data = DataInTurn(options, ranks);
  RequireSplits(options, data);
  RunParams resolved =
      Resolve(options.params, options.device, data, options.place.world_size);
  const TrainParams& params = resolved.values;
  std::optional<Teacher> teacher;
  if (Trains(options.mode)) {
    RequireShares(params, options.place);
    ResolveClassWeights(data, resolved);
    teacher = FindTeacher(options, resolved);
  }
  SettlePrecision(options, ranks, resolved);
  RequireSameRun(options, resolved, data, ranks);
  const std::unique_ptr<FolderClaim> claim = ClaimModelDir(options);
  const MemoryThere memory = FindMemory();
  const MemoryNeed most = EstimateNeed(options, params);
  if (!most.on_gpu) {
    KeepHeap(static_cast<std::size_t>(most.device));
  }
  ProgramEnd end = ExitCode::kRuntimeError;
  TranslateTorchErrors(
      [&] {
        DeviceOptions device_options = DeviceOfJob(options, params);
        device_options.ranks = &ranks;
        DeviceLoop device(MakeModelOptions(params),
                          MakeOptimizerOptions(params), device_options);
        const Job job{options, resolved, params, data,
                      device,  ranks,    memory, ReadCpuTimes()};
        PrintStart(job);
        if (teacher) {
          BeginTeaching(*std::exchange(teacher, std::nullopt), device, ranks);
        }
        if (!Trains(options.mode)) {
          const MemoryNeed need = EvaluationNeed(options, params);
          WarnOfMemory(need, WithGpu(memory, need));
        }
        end = RunMode(job, stop);
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
    // Closes the socket to which the ranks would have connected.
    RankSocket(std::exchange(options.place, {}).listener).Close();
  }
  if (!options.place.is_first()) {
    SuppressMessages();
  }
  if (options.mode == Mode::kDoctor) {
    return DoctorMode(options);
  }
  if (options.dry_run) {
    return DryRun(options);
  }
  options.device = DeviceOfRank(options.device, options.place);
  const std::unique_ptr<Ranks> ranks =
      JoinRanks(options.place, options.rank_timeout);
  return RunAndReportErrors(options, *ranks, stop);
}

}  // namespace

ProgramEnd Run(const RunOptions& options, const std::stop_token& stop) {
  const UrlsInMessages urls(options.storage);
  ProgramEnd end = ExitCode::kRuntimeError;
  TranslateTorchErrors([&] { end = Dispatch(options, stop); });
  return end;
}

}  // namespace infeed
