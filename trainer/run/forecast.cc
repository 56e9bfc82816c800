#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/count_text.h"
#include "pipeline/engine/worker_trial.h"
#include "pipeline/remote/rpc_plugin.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "records/store/label_index.h"
#include "trainer/feed/run_input.h"
#include "trainer/model/cost.h"
#include "trainer/params/station_options.h"
#include "trainer/run/job.h"
#include "trainer/run/memory.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

// Whether there is data of the kind that the mode reads.
bool HasInput(const RunOptions& options, const DataSet& data) {
  return Trains(options.mode) ? data.has_train() : data.has_eval();
}

// Requires: HasInput().
const RecordIndex* IndexOf(const RunOptions& options, const DataSet& data) {
  return Trains(options.mode) ? data.train_index() : data.eval_index();
}

InputOptions InputOf(const RunOptions& options, const RunParams& resolved) {
  const TrainParams& params = resolved.values;
  InputOptions input =
      Trains(options.mode) ? params.input : EvalInputOf(params);
  if (options.mode == Mode::kEval) {
    TakeGivenPolicy(resolved, input);
  }
  input.bad_record_report.clear();  // Nothing is written.
  return input;
}

// Has each worker fill some images.
void TryInputWorkers(const RunOptions& options, const DataSet& data,
                     const RunParams& resolved, Preparation& preparation) {
  const InputOptions input = InputOf(options, resolved);
  if (input.workers.empty() || !HasInput(options, data) || data.is_fake()) {
    return;
  }
  WorkersTrial trial;
  preparation.Do([&] {
    trial = TryWorkers(LoadedRpcLibrary(), *IndexOf(options, data), input);
  });
  for (const WorkerTrial& worker : trial.workers) {
    Say("worker: " + worker.address + ", " + trial.Describe(worker));
    preparation.Do([&] { RequireUsable(worker); });
  }
  if (const std::string conclusion = trial.Conclusion(); !conclusion.empty()) {
    Say("worker: " + conclusion);
  }
}

// Makes one batch. Returns the memory that the input may use.
std::int64_t TryInput(const RunOptions& options, const DataSet& data,
                      const RunParams& resolved) {
  if (!HasInput(options, data)) {
    return 0;
  }
  const std::unique_ptr<BatchStream> input =
      OpenInput(IndexOf(options, data), InputOf(options, resolved));
  const BatchHandle batch = input->Next();
  Check(batch != nullptr, "a split has a batch");
  input->Stop();
  const PipelineStats stats = input->stats();
  Say(fmt::format(
      "input:  one batch made, {} x {} x {} pixels: {} words of 32 "
      "bits; up to {} of memory",
      batch->size(), batch->image_size().height, batch->image_size().width,
      batch->pixels().size(), MemorySizeText(input->memory_bytes())));
  // Threads may have completed later batches, too.
  if (const BadRecordTotals& bad = stats.bad_record_totals; bad.met() > 0) {
    Say(fmt::format("        {} of the first {} images are bad; the first: {}",
                    bad.bad_samples, bad.samples, stats.first_bad_record));
  }
  return input->memory_bytes();
}

// Checks the labels of all records, unless they are in an object store, where
// they would have to be downloaded. input: of the training, or the evaluation.
void TryLabels(const DataSplit& split, const TrainParams& params,
               const InputOptions& input) {
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
  const bool is_over =
      input.max_bad_records >= 0 && bad.count() > input.max_bad_records;
  const bool ends = input.on_bad_record == OnBadRecord::kFail || is_over;
  if (bad.count() > 0 && (ends || bad.count() == bad.records)) {
    throw DataError(text +
                    fmt::format("; on_bad_record={}, max_bad_records={}, "
                                "label_offset={}, num_label_classes={}",
                                ChoiceName(input.on_bad_record, kOnBadRecords),
                                input.max_bad_records, LabelOffsetOf(params),
                                params.input.num_label_classes));
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

void TryDisk(const RunOptions& options, const TrainParams& params) {
  const std::int64_t one = CheckpointBytes(
      ComputeCost(MakeModelOptions(params), params.input.preprocess.image_size),
      MakeOptimizerOptions(params));
  // While a checkpoint is written, the oldest one still exists.
  const std::int64_t all = one * (params.keep_last + 1);
  const auto free = static_cast<std::int64_t>(
      std::filesystem::space(NearestThere(options.model_dir)).available);
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

}  // namespace

void Forecast(const RunOptions& options, const DataSet& data,
              const RunParams& resolved, Preparation& preparation) {
  const TrainParams& params = resolved.values;
  std::int64_t input = 0;
  if (data.train() && Trains(options.mode)) {
    preparation.Do([&] { TryLabels(*data.train(), params, params.input); });
  }
  if (data.eval()) {
    preparation.Do([&] {
      TryLabels(*data.eval(), params,
                Trains(options.mode) ? EvalInputOf(params)
                                     : InputOf(options, resolved));
    });
  }
  preparation.Do([&] { input = TryInput(options, data, resolved); });
  TryInputWorkers(options, data, resolved, preparation);
  if (!params.precision && Trains(options.mode) && !IsGpu(options.device) &&
      CpuHasBfloat16()) {
    Say("precision: auto; a run times bfloat16 against float32 first");
  }
  preparation.Do([&] { TryMemory(options, params, input); });
  if (Trains(options.mode)) {
    preparation.Do([&] { TryDisk(options, params); });
  }
}

}  // namespace infeed
