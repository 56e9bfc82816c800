#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/engine/batch_stream.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/feed/infeed.h"
#include "trainer/loop/device_loop.h"
#include "trainer/params/station_options.h"
#include "trainer/remote/run.h"
#include "trainer/replay/recorded_input.h"
#include "trainer/replay/recorded_run.h"
#include "trainer/replay/replay_lines.h"
#include "trainer/replay/replay_page.h"
#include "trainer/replay/replayed_step.h"
#include "trainer/results/model_dir.h"
#include "trainer/results/model_labels.h"
#include "trainer/run/job.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

// A stream of a single batch.
class OneBatch final : public BatchStream {
 public:
  explicit OneBatch(BatchHandle batch) : batch_(std::move(batch)) {}

  [[nodiscard]] BatchHandle Next() override { return std::move(batch_); }
  void Stop() override {}
  [[nodiscard]] StreamPosition position() const override { return {}; }
  [[nodiscard]] PipelineStats stats() const override { return {}; }
  [[nodiscard]] std::int64_t memory_bytes() const override { return 0; }

 private:
  BatchHandle batch_;
};

// The model in evaluation form, with one of the run's checkpoints.
class ReplayModel {
 public:
  ReplayModel(const RunOptions& options, const RecordedRun& run) : run_(run) {
    const TrainParams& params = run.params.values;
    DeviceOptions device =
        MakeDeviceOptions(params, DeviceOfRank(options.device, options.place));
    device.eval_views = {};  // The images are those of the training.
    device.batch_norm_group = 1;
    device.say = Say;
    device_ = MakeDeviceLoop(MakeModelOptions(params),
                             MakeOptimizerOptions(params), device);
  }

  // Loads CheckpointFor() a step, and returns its step.
  std::int64_t LoadFor(std::int64_t step) {
    const Checkpoint* const state = CheckpointFor(run_, step);
    if (state == nullptr) {
      throw UsageError(
          fmt::format("losses: {} has no undamaged checkpoint of its steps",
                      run_.model_dir));
    }
    if (loaded_ != state->step) {
      device_->LoadForUse(LoadCheckpoint(run_.model_dir, state->step).state);
      loaded_ = state->step;
    }
    return state->step;
  }

  [[nodiscard]] std::vector<ImageResult> Judge(BatchHandle batch) {
    const int size = batch->size();
    const ImageSize image_size = batch->image_size();
    Infeed infeed(std::make_shared<OneBatch>(std::move(batch)), size,
                  image_size);
    std::vector<ImageResult> results;
    device_->Predict(infeed, [&](const Predictions& predictions) {
      for (int slot = 0; slot < predictions.size(); ++slot) {
        results.push_back(
            {.loss = predictions.losses[static_cast<std::size_t>(slot)],
             .predicted = predictions.classes_of(slot)[0],
             .probability = predictions.probabilities_of(slot)[0]});
      }
    });
    return results;
  }

 private:
  const RecordedRun& run_;
  std::unique_ptr<DeviceLoop> device_;
  std::optional<std::int64_t> loaded_;
};

std::string ReplayFolder(const RunOptions& options) {
  std::string folder = options.replay.folder.empty()
                           ? PathIn(options.model_dir, "replay")
                           : options.replay.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw IoError(folder, "create", error.value());
  }
  return folder;
}

// Writes the page and the lines; returns the page's path.
std::string WriteReplay(const std::string& folder, const ReplayedStep& step,
                        const ModelLabels& labels) {
  const std::string stem =
      PathIn(folder, fmt::format("step_{}", step.place.step));
  WriteFileAtomically(stem + ".jsonl", ReplayLines(step));
  WriteFileAtomically(stem + ".html", ReplayPage(step, labels));
  return stem + ".html";
}

}  // namespace

ProgramEnd ReplaySteps(const RunOptions& options, const std::stop_token& stop) {
  RequireUsedWeights(options);
  RecordedRun recorded = ReadRun(options.model_dir);
  recorded.params = options.params;
  for (const std::int64_t step : options.replay.steps) {
    (void)FindStart(recorded, step);  // Throws before any work is done.
  }
  const RecordedInput input(std::move(recorded), options.data_dir);
  std::optional<ReplayModel> model;
  if (options.replay.with_losses) {
    model.emplace(options, input.run());
  }
  const ModelLabels labels = ModelLabels::OfModel(options.model_dir);
  for (const std::int64_t step : options.replay.steps) {
    if (stop.stop_requested()) {
      return Stopped();
    }
    std::optional<std::int64_t> checkpoint;
    BatchJudge judge;
    if (model) {
      checkpoint = model->LoadFor(step);
      judge = [&](BatchHandle batch) { return model->Judge(std::move(batch)); };
    }
    ReplayedStep replayed = ReplayStep(input, step, options.replay.rank, judge);
    replayed.checkpoint = checkpoint;
    const std::string page =
        WriteReplay(ReplayFolder(options), replayed, labels);
    fmt::print(
        "step {}: batch {} of epoch {}, {}: {}\n", step, replayed.place.number,
        replayed.place.epoch, CountText(replayed.images.size(), "image"),
        ShownText(options.storage == nullptr ? page
                                             : options.storage->WithUrl(page)));
  }
  return ExitCode::kDone;
}

}  // namespace infeed
