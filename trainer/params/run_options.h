#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/trace_log.h"
#include "trainer/params/params.h"
#include "trainer/ranks/place.h"

namespace infeed {

enum class Mode {
  kTrain,
  kEval,
  kTrainAndEval,
  kPredict,
  kExport,
  kReplay,
  kCompare,
  kDoctor
};

// The names of the modes. ParseMode() throws UsageError for any other name.
inline constexpr std::string_view kModes =
    "train|eval|train_and_eval|predict|export|replay|compare|doctor";
[[nodiscard]] Mode ParseMode(std::string_view name);

// Trains(): whether the mode trains. UsesTrainedModel(): whether the mode reads
// a trained model and uses that model's resolved parameters.
[[nodiscard]] inline bool Trains(Mode mode) {
  return mode == Mode::kTrain || mode == Mode::kTrainAndEval;
}
[[nodiscard]] inline bool UsesTrainedModel(Mode mode) {
  return mode == Mode::kEval || mode == Mode::kPredict ||
         mode == Mode::kExport || mode == Mode::kReplay;
}

class RemoteRun;

// kReplay: the steps whose batches are shown.
struct ReplayOptions {
  std::vector<std::int64_t> steps = {};
  std::optional<int> rank = {};  // absent: the shares of all ranks
  bool with_losses = false;      // also each image's loss and prediction
  std::string folder = {};       // "": MODEL_DIR/replay
};

struct RunOptions {
  std::string data_dir;  // "null": made-up images; "" where none is needed
  std::string model_dir;
  Mode mode = Mode::kTrainAndEval;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  // The checkpoint to resume from: "auto" is the newest undamaged one, "best"
  // the one that best.json names, "never" none; else the step or path of one.
  std::string resume = "auto";
  // Resume from a checkpoint that another data set or configuration wrote.
  bool force = false;

  // kEval: evaluate each new checkpoint until that of the last step, waiting
  // this many seconds for the next one; absent: one evaluation.
  std::optional<double> eval_timeout;

  // kPredict: inputs: files, folders or shards; none: the data's images.
  // predict_batch_size: 0: that of evaluations. num_test_images: 0: all.
  std::vector<std::string> inputs;
  int predict_batch_size = 0;
  std::int64_t num_test_images = 0;
  std::string predictions_page;  // an HTML file, or an object; "": none

  // kExport, and at the end of a training run if export_dir is set. No formats:
  // the exporter's default.
  std::string export_dir;
  std::vector<std::string> formats;  // onnx, safetensors, torchscript
  int export_batch_size = 0;         // of the ONNX file; 0: any
  // kExport: export the mean of this number of checkpoints.
  int average_checkpoints = 1;

  ReplayOptions replay = {};

  // Check data, model, memory, disk and device, print what would run, and end.
  bool dry_run = false;
  // The command line and the program's version, for the files that the run
  // writes.
  std::vector<std::string> command = {};
  std::string version = {};  // "0.1.0"
  std::string commit = {};   // the commit of the build
  // This process's rank, and how long ranks wait for each other.
  RankPlace place = {};
  int planned_ranks = 1;  // of the training that a dry run, alone, is for
  std::chrono::seconds rank_timeout{300};
  std::string trace_path;    // the file that gets the spans; "": none
  std::string metrics_path;  // the file that gets the statistics; "": none
  // Observers; both may be null, and must outlive the run.
  LiveStats* live_stats = nullptr;  // gets the statistics of the training input
  TraceLog* trace = nullptr;        // gets the spans of every input pipeline
  // Null where all folders are on this disk; must outlive the run.
  RemoteRun* storage = nullptr;
  RunParams params;  // layers are applied, but not ResolveDefaults()
};

// The local path of the weights that a parameter gives, by path, URL or name,
// downloaded if needed. Throws UsageError naming the parameter, IoError.
[[nodiscard]] std::string LocalWeights(const RunOptions& options,
                                       const std::string& given,
                                       std::string_view parameter);

}  // namespace infeed
