#include "trainer/run/description.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/environment.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "trainer/feed/run_input.h"
#include "trainer/log/run_origin.h"
#include "trainer/log/train_log.h"
#include "trainer/loop/ceilings.h"
#include "trainer/params/params.h"
#include "trainer/params/station_options.h"
#include "trainer/params/table.h"
#include "trainer/remote/run.h"
#include "trainer/replay/shard_identities.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// An absolute path; a URL without its secrets. If there is no working
// directory, the path is returned unchanged.
std::string PathText(const std::string& path) {
  if (IsUrl(path) || IsFakeData(path)) {
    return WithoutUrlSecrets(path);
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string WorkingFolder() {
  std::error_code error;
  return fs::current_path(error).string();
}

// The text by which a resumed run compares its data.
std::string DataIdentity(const DataSet& data) {
  std::string text = data.is_fake() ? "fake data" : "";
  for (const std::optional<DataSplit>* split : {&data.train(), &data.eval()}) {
    if (*split) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", (*split)->name,
                          (*split)->index.identity());
    }
  }
  return text;
}

// Beside the origin, for a later replay of a step.
EventValues StartValues(const DataSet& data) {
  const std::string shards =
      data.is_fake() ? "" : ShardIdentities(data.train()->index);
  return shards.empty()
             ? EventValues()
             : EventValues{{std::string(kShardIdentitiesKey), shards}};
}

std::vector<ReportFact> Configuration(const RunParams& params) {
  std::vector<ReportFact> facts;
  for (const Param& param : ParamTable()) {
    const auto origin = params.origins.find(param.name);
    facts.push_back(
        {.name = std::string(param.name),
         .value = WithoutUrlSecrets(ValueText(param, params.values)),
         .origin = origin == params.origins.end() ? "" : origin->second});
  }
  return facts;
}

// How the job was started, its machine and its data.
RunOrigin MakeOrigin(const Job& job) {
  const RunOptions& options = job.options;
  return {
      {"command", CommandText(options.command)},
      {"folder", WorkingFolder()},
      {"version", options.version},
      {"commit", options.commit},
      {"host", HostName()},
      {"processor",
       fmt::format("{} ({})", ProcessorName(),
                   CountText(std::thread::hardware_concurrency(), "thread"))},
      {"device", job.device.Describe()},
      {"libtorch", TorchVersion()},
      {"ranks", job.ranks.place().Describe()},
      {"data_dir", PathText(options.data_dir)},
      {"data", job.data.Describe()},
      {"data_identity", DataIdentity(job.data)},
      {"model", fmt::format("{}, {} parameters", ModelName(job.params),
                            job.device.parameter_count())},
      {"environment", EnvironmentText(environ)}};
}

}  // namespace

void WriteDescription(const Job& job) {
  const std::string& model_dir = job.options.model_dir;
  RemoveLeftFiles(model_dir);
  if (!job.data.is_fake()) {
    DataLabels(job).Save(model_dir);
  }
  // Written last: an evaluation that waits for this training starts once it
  // exists.
  WriteFileAtomically(
      ParamsPath(model_dir),
      ToYaml(job.resolved) + "# The run:\n" + YamlComments(MakeOrigin(job)));
}

namespace {

// See ReportSubject::more_in_loss.
std::string MoreInLoss(const TrainParams& params) {
  const OptimizerOptions& optimizer = params.optimizer;
  std::vector<std::string> parts;
  const bool adds_l2 = optimizer.kind == OptimizerKind::kMomentum ||
                       optimizer.kind == OptimizerKind::kAdam ||
                       optimizer.kind == OptimizerKind::kRmsProp;
  if (adds_l2 && optimizer.weight_decay > 0) {
    parts.emplace_back("the L2 term");
  }
  if (!params.loss_class_weights.empty()) {
    parts.emplace_back("class weights");
  }
  if (optimizer.mixup_alpha > 0 || optimizer.cutmix_alpha > 0) {
    parts.emplace_back("mixed images");
  }
  if (!params.distill_from.empty()) {
    parts.emplace_back("a teacher");
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// See ReportSubject::replay_dir.
std::string ReplayDir(const Job& job) {
  const std::string& here = job.options.model_dir;
  const RemoteRun* const storage = job.options.storage;
  return job.data.is_fake()
             ? ""
             : WithoutUrlSecrets(storage == nullptr ? here
                                                    : storage->WithUrl(here));
}

ReportSubject MakeReportSubject(const Job& job) {
  const TrainParams& params = job.params;
  return {.title = ModelName(params) + " on " +
                   WithoutUrlSecrets(job.options.data_dir),
          .total_steps = params.train_steps,
          .batch_size = params.input.batch_size,
          .iterations_per_loop = params.iterations_per_loop,
          .class_names = DataLabels(job).names(),
          .more_in_loss = MoreInLoss(params),
          .replay_dir = ReplayDir(job),
          .configuration = Configuration(job.resolved),
          .origin = MakeOrigin(job)};
}

// Measured only on a GPU, where it takes little time.
DeviceCeilings CeilingsOf(const Job& job) {
  const std::string& device = job.options.device;
  return IsGpu(device)
             ? MeasureCeilings(device, PrecisionOf(job.params, device))
             : DeviceCeilings{};
}

}  // namespace

ProfilerOptions ProfilerOf(const Job& job, std::int64_t first_step) {
  if (!job.ranks.place().is_first()) {
    return {};
  }
  const TrainParams& params = job.params;
  return {.model_dir = job.options.model_dir,
          .every_n_steps = params.profile_every_n_steps,
          .duration = std::chrono::milliseconds(params.tpu_profile_duration),
          .first_step = first_step,
          .device = &job.device.recorder()};
}

std::unique_ptr<RunLog> MakeLog(const Job& job, std::int64_t first_step,
                                const EvalSubject& evaluations,
                                Profiler& profiler) {
  if (!job.ranks.place().is_first()) {
    return std::make_unique<RunLog>();
  }
  const TrainParams& params = job.params;
  TrainLogOptions options = {
      .model_dir = job.options.model_dir,
      .train_images = params.num_train_images,
      .eval_images = params.num_eval_images,
      .first_step = first_step,
      .steps_per_line = params.log_step_count_steps,
      .epoch_lines = params.epoch_lines,
      .evaluations = Evaluates(job)
                         ? std::optional(EvalStepsOf(job, first_step))
                         : std::nullopt,
      .subject = evaluations,
      .input_hash = job.data.is_fake() ? std::nullopt
                                       : std::optional(params.input.input_hash),
      .skip_steps = params.skip_host_call,
      .warm_up_steps = job.device.warm_up_steps(),
      .configuration = ToYaml(job.resolved),
      .ceilings = CeilingsOf(job),
      .report = MakeReportSubject(job),
      .start_values = StartValues(job.data),
      .profiler = &profiler,
      .say = Say};
  if (RemoteRun* const storage = job.options.storage) {
    options.on_checkpoint = [storage](std::int64_t step,
                                      const std::string& folder) {
      storage->UploadCheckpoint(step, folder);
    };
    options.on_end = [storage] { storage->UploadLog(); };
  }
  return std::make_unique<TrainLog>(options);
}

}  // namespace infeed
