#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"
#include "pipeline/stats/cpu_load.h"
#include "records/files/output_check.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/feed/data_set.h"
#include "trainer/log/messages.h"
#include "trainer/loop/device_loop.h"
#include "trainer/model/memory_need.h"
#include "trainer/params/params.h"
#include "trainer/params/run_options.h"
#include "trainer/ranks/ranks.h"
#include "trainer/results/eval_steps.h"
#include "trainer/results/model_labels.h"

// Code that the modes of train_resnet share. Each mode has its own file in
// run/, train_mode.cc, eval_mode.cc and so on; run.cc selects one.
namespace infeed {

// The parts that a run works with once its parameters are resolved.
struct Job {
  const RunOptions& options;
  const RunParams& resolved;
  const TrainParams& params;  // resolved.values
  const DataSet& data;
  DeviceLoop& device;
  Ranks& ranks;
  MemoryThere memory;             // before the run took its own
  std::optional<CpuTimes> start;  // the cores, when the run began
};

// Prints ScheduleAdvice() for a run on real images.
void SayScheduleAdvice(const RunParams& params, const DataSet& data);

// How a run handles missing shards (allow_missing_shards).
[[nodiscard]] OnShardSetFaults ShardSetPolicy(const RunOptions& options);

// The files that the user names for a run's results; a path may be "".
[[nodiscard]] std::vector<NamedOutput> OutputsOf(const RunOptions& options);

// The data of a run; an empty DataSet where no data was given. Throws
// UsageError where the images to evaluate number classes differently than those
// to train on, and what RequireLabelOffset() throws.
[[nodiscard]] DataSet OpenData(const RunOptions& options);

// The names of the model's classes, from the data.
[[nodiscard]] ModelLabels DataLabels(const TrainParams& params,
                                     const DataSet& data);
[[nodiscard]] inline ModelLabels DataLabels(const Job& job) {
  return DataLabels(job.params, job.data);
}

// Throws UsageError where the data lacks the images that the mode needs.
void RequireSplits(const RunOptions& options, const DataSet& data);

// Throws UsageError where the command line gives weights, and a mode that does
// not train would take a checkpoint instead.
void RequireUsedWeights(const RunOptions& options);

// The same; and where a mode needs a trained model, and model_dir has none: the
// path is probably wrong.
void RequireModel(const RunOptions& options);

// The input options of this rank's part of an evaluation, with the run's trace.
[[nodiscard]] InputOptions EvalInput(const Job& job);

// Takes the policy for bad records that the command line of the mode kEval
// gives; the model's is that of its training.
void TakeGivenPolicy(const RunParams& resolved, InputOptions& input);

// On rank 0 prints a line if local shards of the split changed since the run
// began: their records are not where its index has them.
void SayChangedShards(const Job& job, const std::optional<DataSplit>& split);

// Where a run starts or resumes.
struct RunStart {
  std::int64_t step = 0;
  StreamPosition stream = {};
  std::uint64_t fingerprint = 0;  // Checkpoint's
  // On rank 0: Checkpoint::validation, the origin of the weights unless it is a
  // checkpoint in model_dir, and RequireOwnCheckpoint().
  RunIdentity validation = {};
  std::string weights = {};
  std::string network = {};
  ModelLabels labels = {};  // the names of the classes, where known
};

// Whether a training run includes evaluations: the mode has them, and the data
// has images for them.
[[nodiscard]] inline bool Evaluates(const Job& job) {
  return job.options.mode == Mode::kTrainAndEval && job.data.has_eval();
}
// The steps of these evaluations, for a run that starts at first_step.
[[nodiscard]] EvalSteps EvalStepsOf(const Job& job, std::int64_t first_step);

// All checkpoints that a run may use are damaged: those of a folder, or the one
// that it was told to use. Exit code 4.
class UnusableCheckpoints : public DataError {
 public:
  using DataError::DataError;
};

// Throws UsageError for the checkpoint of another run, or where the mode does
// not train, of another network. With --force returns the differences, and
// prints a line.
std::string RequireOwnCheckpoint(const Job& job, const Checkpoint& checkpoint);

// Loads the checkpoint that --resume selects onto the device; rank 0 reads it
// for all ranks. nullopt: there is none. Throws UsageError when it belongs to
// another run; UnusableCheckpoints, on all ranks.
[[nodiscard]] std::optional<RunStart> Restore(const Job& job);

// If resnet_checkpoint is given, loads its weights into the new model on the
// device, and prints which were taken. All ranks get rank 0's weights.
void StartFromWeights(const Job& job);

// For the modes that do not train: loads the model's newest undamaged
// checkpoint onto the device, else the weights of resnet_checkpoint, as step 0.
// Throws as Restore(); UsageError where there is neither, and for weights
// without a classifier that fits. purpose: "evaluate" or the like, for
// messages.
[[nodiscard]] RunStart LoadTrained(const Job& job, std::string_view purpose);

// The end of a run after a stop request that saves nothing.
[[nodiscard]] inline ProgramEnd Stopped() {
  return {ExitCode::kStoppedBySignal,
          "stopped by a signal; run the same command again"};
}

// Writes the model on the device, after `step` updates, to a new folder in
// export_dir, and prints its path. averaged_steps: the steps of the checkpoints
// that were averaged, if any. labels: the names of the model's classes; none:
// the data's names are used.
void ExportNow(const Job& job, std::int64_t step, ModelLabels labels,
               const std::vector<std::int64_t>& averaged_steps = {});

}  // namespace infeed
