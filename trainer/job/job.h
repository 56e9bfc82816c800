#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "pipeline/stats/cpu_load.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/job/data_set.h"
#include "trainer/job/run_options.h"
#include "trainer/loop/device_loop.h"
#include "trainer/model/memory_need.h"
#include "trainer/model_dir/model_labels.h"
#include "trainer/params/params.h"
#include "trainer/ranks/ranks.h"

// What the modes of train_resnet share. Each mode is a file of its own,
// train_mode.cc, eval_mode.cc and so on; run.cc chooses.
namespace infeed {

// What a run has at hand once its parameters are resolved.
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

// Prints a line on stderr.
void Say(const std::string& line);
// From now on it does not: what every rank would say, rank 0 says alone.
void BeUnheard();

// Prints where a run on real images is too short for its learning rate.
void SayScheduleAdvice(const TrainParams& params, const DataSet& data);

// Bytes as people read them.
[[nodiscard]] constexpr double MiB(std::int64_t bytes) {
  return static_cast<double>(bytes) / 0x1p20;
}

// What a run does about shards that are missing: allow_missing_shards.
[[nodiscard]] OnShardSetFaults ShardSetPolicy(const RunOptions& options);

// The data that a run is given; none where it is given none.
[[nodiscard]] DataSet DataOf(const RunOptions& options);

// The names of the model's classes, from the data.
[[nodiscard]] ModelLabels DataLabels(const Job& job);

// Throws UsageError where a mode lacks the images that it is for.
void RequireSplits(const RunOptions& options, const DataSet& data);

// Throws UsageError where a mode needs a trained model, and model_dir has none:
// it is a wrong path.
void RequireModel(const RunOptions& options);

// How an evaluation reads this rank's part, watched by who watches the run.
[[nodiscard]] InputOptions EvalInput(const Job& job);

// Where a run goes on.
struct RunStart {
  std::int64_t step = 0;
  StreamPosition stream = {};
};

// Puts the checkpoint that --resume asks for on the device; rank 0 reads it for
// all. Throws UsageError when it belongs to another run; reports through
// `unusable` when there are checkpoints and none is whole.
[[nodiscard]] std::optional<RunStart> Restore(const Job& job, bool& unusable);

// Gives the new model on the device the weights of resnet_checkpoint, where
// that is given, and says what it took. All ranks have rank 0's then.
void StartFromWeights(const Job& job);

// For the modes that do not train: puts the model's newest usable checkpoint on
// the device, else the weights of resnet_checkpoint, as step 0. Returns the
// step; nullopt when there are checkpoints and none is whole, which is said.
// Throws UsageError where there is neither, and for weights without a
// classifier that fits; purpose is "evaluate" or the like.
[[nodiscard]] std::optional<std::int64_t> LoadTrained(const Job& job,
                                                      std::string_view purpose);

// Says that no checkpoint is whole, and what to do.
[[nodiscard]] ExitCode Unusable(const std::string& model_dir);

// Writes the model on the device, of so many updates, to a new folder in
// export_dir, and says where.
void ExportNow(const Job& job, std::int64_t step);

// The modes.
[[nodiscard]] ExitCode TrainMode(const Job& job, const std::stop_token& stop);
[[nodiscard]] ExitCode EvalMode(const Job& job, const std::stop_token& stop);
[[nodiscard]] ExitCode PredictMode(const Job& job, const std::stop_token& stop);
[[nodiscard]] ExitCode ExportMode(const Job& job, const std::stop_token& stop);
// Needs no model and no data.
[[nodiscard]] ExitCode DoctorMode(const RunOptions& options);

}  // namespace infeed
