#include "trainer/run/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/count_text.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "records/store/label_index.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/feed/run_input.h"
#include "trainer/job/class_weights.h"
#include "trainer/job/job.h"
#include "trainer/job/memory.h"
#include "trainer/job/station_options.h"
#include "trainer/job/teacher.h"
#include "trainer/model/cost.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// The problems found: prints each one, and keeps the exit code of the first.
class Findings {
 public:
  // Returns false when there is a problem.
  bool Try(const std::function<void()>& check) {
    try {
      TranslateTorchErrors(check);
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

// Makes one batch. Returns the memory that the input may use.
std::int64_t TryInput(const RunOptions& options, const DataSet& data,
                      const TrainParams& params) {
  const bool trains = Trains(options.mode);
  if (trains ? !data.has_train() : !data.has_eval()) {
    return 0;
  }
  const std::unique_ptr<BatchStream> input = OpenInput(
      trains ? data.train_index() : data.eval_index(),
      trains ? MakeTrainingOptions(params, options.model_dir, data).input
             : MakeEvalInput(params));
  const BatchHandle batch = input->Next();
  Check(batch != nullptr, "a split has a batch");
  input->Stop();
  const PipelineStats stats = input->stats();
  Say(fmt::format("input:  one batch made, {} x {} x {} pixels: {} words of 32 "
                  "bits, {} bad records",
                  batch->size(), batch->image_size().height,
                  batch->image_size().width, batch->pixels().size(),
                  stats.bad_records) +
      " in it; up to " + MemorySizeText(input->memory_bytes()) + " of memory");
  if (stats.bad_records > 0) {
    Say("        the first: " + stats.first_bad_record);
  }
  return input->memory_bytes();
}

// Checks the labels of all records, unless they are in an object store, where
// they would have to be downloaded.
void TryLabels(const DataSplit& split, const TrainParams& params, bool trains) {
  const RecordIndex& index = split.index;
  if (std::ranges::any_of(index.shards(), IsUrl)) {
    Say("labels: " + split.name +
        " not counted: its shards are in an object store");
    return;
  }
  const BadLabels bad = CountBadLabels(
      CountLabels(index, {.label_key = params.input.label_key}), params);
  const std::string text = split.name + ": " + BadLabelsText(bad, params);
  Say("labels: " + text);
  const bool is_over = params.input.max_bad_records >= 0 &&
                       bad.count() > params.input.max_bad_records;
  const bool ends =
      trains && (params.input.on_bad_record == OnBadRecord::kFail || is_over);
  if (bad.count() > 0 && (ends || bad.count() == bad.records)) {
    throw DataError(
        text +
        fmt::format("; on_bad_record={}, max_bad_records={}, "
                    "label_offset={}, num_label_classes={}",
                    ChoiceName(params.input.on_bad_record, kOnBadRecords),
                    params.input.max_bad_records, LabelOffsetOf(params),
                    params.input.num_label_classes));
  }
}

void TryModel(const RunOptions& options, const TrainParams& params) {
  const DeviceLoop device(MakeModelOptions(params),
                          MakeOptimizerOptions(params),
                          MakeDeviceOptions(params, options.device));
  Say("device: " + device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelName(params),
                  device.parameter_count()));
  if (!params.precision && Trains(options.mode) && !IsGpu(options.device) &&
      CpuHasBfloat16()) {
    Say("precision: auto; a run times bfloat16 against float32 first");
  }
}

void TryTeacher(const RunOptions& options, RunParams& resolved) {
  if (const std::optional<Teacher> teacher = FindTeacher(options, resolved)) {
    Say("teacher: " + teacher->text);
  }
}

void TryMemory(const RunOptions& options, const TrainParams& params,
               std::int64_t input) {
  const MemoryNeed need = EstimateNeed(options, params, input);
  const MemoryThere there = WithGpu(FindMemory(), need);
  Say("memory: " + MemoryNeedText(need, there));
  if (NeverFits(need, there)) {
    throw IoError(MemoryWarning(need, there));
  }
  WarnOfMemory(need, there);
}

// The folder, or its nearest parent that exists.
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
      ComputeCost(MakeModelOptions(params), params.input.image_size),
      MakeOptimizerOptions(params));
  // While a checkpoint is written, the oldest one still exists.
  const std::int64_t all = one * (params.keep_last + 1);
  const auto free = static_cast<std::int64_t>(fs::space(folder).available);
  Say(fmt::format("disk:   {} of {} in {}, {} free",
                  CountText(params.keep_last, "checkpoint"), FileSizeText(one),
                  options.model_dir, FileSizeText(free)));
  if (all > free) {
    throw IoError(fmt::format(
        "{}: {} checkpoints need {}, more than is free; lower keep_last or "
        "give "
        "another model_dir",
        options.model_dir, params.keep_last + 1, FileSizeText(all)));
  }
}

std::string WouldTrain(const RunOptions& options, const TrainParams& params,
                       bool evaluates) {
  const std::vector<std::int64_t> there = ListCheckpoints(options.model_dir);
  std::string text = fmt::format(
      "would train from step {} to {} in loops of {}, batches of {}",
      there.empty() || options.resume == "never" ? 0 : there.back(),
      params.train_steps, params.iterations_per_loop, params.input.batch_size);
  if (options.mode == Mode::kTrainAndEval && evaluates) {
    text += fmt::format(
        ", and evaluate {} {}", CountText(params.num_eval_images, "image"),
        params.steps_per_eval > 0
            ? "every " + CountText(params.steps_per_eval, "step")
            : "at the end of each epoch");
  }
  return text;
}

// The checks that need resolved parameters.
void TryRun(const RunOptions& options, const DataSet& data, RunParams& resolved,
            Findings& findings) {
  const TrainParams& params = resolved.values;
  std::int64_t input = 0;
  if (!data.is_fake() && !options.data_dir.empty()) {
    Say("labels: " + LabelsText(data.labels(), params));
  }
  if (data.train() && Trains(options.mode)) {
    findings.Try([&] { TryLabels(*data.train(), params, true); });
  }
  if (data.eval()) {
    findings.Try([&] { TryLabels(*data.eval(), params, false); });
  }
  findings.Try([&] { input = TryInput(options, data, params); });
  if (Trains(options.mode)) {
    findings.Try([&] { ResolveClassWeights(data, resolved); });
    SayClassWeights(params);
  }
  findings.Try([&] { TryModel(options, params); });
  findings.Try([&] { TryTeacher(options, resolved); });
  findings.Try([&] { TryMemory(options, params, input); });
  if (Trains(options.mode)) {
    findings.Try([&] { TryDisk(options, params); });
    Say(WouldTrain(options, params, data.has_eval()));
    SayScheduleAdvice(resolved, data);
  }
}

}  // namespace

ProgramEnd DryRun(const RunOptions& options) {
  Findings findings;
  DataSet data;
  findings.Try([&] { RequireModel(options); });
  findings.Try([&] {
    data = OpenData(options);
    if (!options.data_dir.empty()) {
      Say("data:   " + data.Describe());
    }
    for (const std::string& note : data.Notes(options.params.values.input)) {
      Say("data:   " + note);
    }
    RequireSplits(options, data);
  });
  const bool has_data = findings.count() == 0;
  RunOptions here = options;  // with a device that exists
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
  const std::string text = fmt::format("dry run: nothing was written, {} found",
                                       CountText(findings.count(), "problem"));
  if (findings.count() == 0) {
    Say(text);
  }
  return {findings.code(), text};
}

}  // namespace infeed
