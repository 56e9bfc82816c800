#include "trainer/dry_run.h"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "pipeline/memory_limit.h"
#include "trainer/checkpoint.h"
#include "trainer/job.h"
#include "trainer/model_cost.h"
#include "trainer/model_name.h"
#include "trainer/run_input.h"
#include "trainer/run_options.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// What was found: problems are said as they come, the first one's code counts.
class Findings {
 public:
  // False when there is a problem.
  bool Try(const std::function<void()>& look) {
    try {
      look();
      return true;
    } catch (const UsageError& error) {
      Add(ExitCode::kUsageError, error.what());
    } catch (const DataError& error) {
      Add(ExitCode::kDataError, error.what());
    } catch (const std::exception& error) {
      Add(ExitCode::kRuntimeError, error.what());
    }
    return false;
  }

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  void Add(ExitCode code, const std::string& message) {
    Say("problem: " + message);
    code_ = count_++ == 0 ? code : code_;
  }

  ExitCode code_ = ExitCode::kDone;
  int count_ = 0;
};

// One batch, to the end of the pipeline. Returns what the input may take.
std::int64_t TryInput(const RunOptions& options, const DataSet& data,
                      const TrainParams& params) {
  const bool trains = Trains(options.mode);
  if (trains ? !data.has_train() : !data.has_eval()) {
    return 0;
  }
  RunInput input(trains ? data.train_index() : data.eval_index(),
                 trains ? TrainingOf(params, options.model_dir, data).input
                        : EvalInputOf(params));
  const BatchSource source = input.batches();
  const BatchHandle batch = source.next();
  Check(batch != nullptr, "a split has a batch");
  source.stop();
  const PipelineStats stats = input.stats();
  const std::int64_t side = batch->image_size();
  Say(
      fmt::format("input:  one batch made, {} x {} x {} pixels: {} words of 32 "
                  "bits, {} bad "
                  "records in it; up to {:.0f} MiB of memory",
                  batch->size(), side, side, batch->size() * side * side,
                  stats.bad_records, MiB(input.memory_bytes())));
  if (stats.bad_records > 0) {
    Say("        the first: " + stats.first_bad_record);
  }
  return input.memory_bytes();
}

void TryModel(const RunOptions& options, const TrainParams& params) {
  const DeviceLoop device(ModelOf(params), OptimizerOf(params),
                          DeviceOf(params, options.device));
  Say("device: " + device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelName(params),
                  device.parameter_count()));
}

void TryMemory(const RunOptions& options, const TrainParams& params,
               std::int64_t input) {
  const ModelCost cost = CostOf(ModelOf(params), params.image_size);
  const DeviceOptions device = DeviceOf(params, options.device);
  const std::int64_t model =
      TrainingBytes(cost, OptimizerOf(params), params.train_batch_size,
                    device.precision == Precision::kBfloat16);
  const bool on_gpu = IsGpu(options.device);
  const std::int64_t machine = MachineMemory();
  Say(fmt::format(
      "memory: about {:.0f} MiB for a training step{}, up to {:.0f} "
      "MiB for the input, {:.0f} MiB in this machine",
      MiB(model), on_gpu ? " on the GPU" : "", MiB(input), MiB(machine)));
  if (input + (on_gpu ? 0 : model) > machine) {
    throw UsageError(
        "memory: that is more than there is; lower train_batch_size, "
        "image_size or memory_limit, or raise gradient_accumulation_steps");
  }
}

// The folder, or the nearest above it that exists.
fs::path NearestFolder(const std::string& path) {
  fs::path folder = fs::absolute(path);
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

void TryDisk(const RunOptions& options, const TrainParams& params) {
  const fs::path folder = NearestFolder(options.model_dir);
  if (!fs::is_directory(folder) || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(options.model_dir + ": cannot be written in " +
                  folder.string());
  }
  const std::int64_t one = CheckpointBytes(
      CostOf(ModelOf(params), params.image_size), OptimizerOf(params));
  // While one is written, the oldest is still there.
  const std::int64_t all = one * (params.keep_last + 1);
  const auto free = static_cast<std::int64_t>(fs::space(folder).available);
  Say(fmt::format("disk:   {} checkpoints of {:.0f} MiB in {}, {:.0f} MiB free",
                  params.keep_last, MiB(one), options.model_dir, MiB(free)));
  if (all > free) {
    throw IoError(fmt::format(
        "{}: {:.0f} MiB for {} checkpoints are more than is free; lower "
        "keep_last or give another model_dir",
        options.model_dir, MiB(all), params.keep_last + 1));
  }
}

std::string WouldTrain(const RunOptions& options, const TrainParams& params,
                       bool evaluates) {
  const std::vector<std::int64_t> there = ListCheckpoints(options.model_dir);
  std::string text = fmt::format(
      "would train from step {} to {} in loops of {}, batches of {}",
      there.empty() || options.resume == "never" ? 0 : there.back(),
      params.train_steps, params.iterations_per_loop, params.train_batch_size);
  if (options.mode == Mode::kTrainAndEval && evaluates) {
    text += fmt::format(", and evaluate {} images every {} steps",
                        params.num_eval_images, params.steps_per_eval);
  }
  return text;
}

// What can be known once the parameters are.
void TryRun(const RunOptions& options, const DataSet& data,
            const RunParams& resolved, Findings& findings) {
  const TrainParams& params = resolved.values;
  std::int64_t input = 0;
  findings.Try([&] { input = TryInput(options, data, params); });
  findings.Try([&] { TryModel(options, params); });
  if (Trains(options.mode)) {
    findings.Try([&] { TryMemory(options, params, input); });
    findings.Try([&] { TryDisk(options, params); });
    Say(WouldTrain(options, params, data.has_eval()));
  }
}

}  // namespace

ExitCode DryRun(const RunOptions& options) {
  Findings findings;
  DataSet data;
  findings.Try([&] {
    data = DataOf(options);
    if (!options.data_dir.empty()) {
      Say("data:   " + data.Describe());
    }
    RequireSplits(options, data);
  });
  const bool has_data = findings.count() == 0;
  RunOptions here = options;  // on a device that there is
  if (!findings.Try([&] { (void)IsGpu(options.device); })) {
    here.device = "cpu";
  }
  RunParams resolved;
  if (has_data && findings.Try([&] {
        resolved = Resolve(here.params, here.device, data);
      })) {
    Say("parameters:\n" + ToYaml(resolved));
    TryRun(here, data, resolved, findings);
  }
  Say(fmt::format("dry run: nothing was written, {} problems found",
                  findings.count()));
  return findings.code();
}

}  // namespace infeed
