#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/save.h"
#include "trainer/checkpoint/writer.h"
#include "trainer/feed/epoch_lines.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/sized_input.h"
#include "trainer/log/run_log.h"
#include "trainer/log/step_watch.h"
#include "trainer/loop/device_loop.h"
#include "trainer/ranks/bad_records_of_ranks.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

struct TrainingOptions {
  std::string model_dir;
  RunIdentity identity;
  InputOptions input;
  // kDevice: the device got the images before (DeviceLoop::Hold()).
  ImagePlace images = ImagePlace::kRecords;
  // What a step costs.
  ModelOptions model = {};
  OptimizerOptions optimizer = {};
  bool in_bfloat16 = false;
  // ImageSizeSchedule's; it decides about the size of the images.
  std::string image_size_schedule = {};
  std::int64_t iterations_per_loop = 1;   // > 0
  std::int64_t steps_per_checkpoint = 1;  // > 0; seen at the end of loops
  KeepOptions keep;                       // which checkpoints stay
  std::string keep_best = "none";         // and the best by this metric
  bool async_checkpoints = false;         // written beside the training
};

// What a training is joined of, beside what it makes itself.
struct TrainingParts {
  DeviceLoop& device;
  Ranks& ranks;
  RunLog& log;
  StepWatch& watch;
};

// A training run between evaluations: input pipeline, infeed, device loop and
// outfeed, joined. Steps run in loops of iterations_per_loop, the last one
// shorter, and the one before another image size; the host does nothing in
// between but count.
//
// With several ranks, all of them make the same calls: they end at the same
// step, whichever was asked to stop; rank 0 writes the checkpoints; and where
// one is due, or an epoch has ended, the weights of all must be the same
// (IoError).
//
// What `with` refers to and the index must outlive it. One thread at a time.
class Training {
 public:
  enum class End { kReached, kStopped, kNonFiniteLoss };

  // Goes on at `step` and `stream`: 0 and {}, or a checkpoint's. index: null
  // for fake data.
  Training(const TrainingOptions& options, const RecordIndex* index,
           const TrainingParts& with, std::int64_t step,
           const StreamPosition& stream);

  // Trains until `target` updates are done, with checkpoints on the way. A
  // request to stop ends it after the step at hand.
  [[nodiscard]] End TrainTo(std::int64_t target, const std::stop_token& stop);

  // Writes a checkpoint of this moment, or begins to, unless the last one is
  // of this step.
  void SaveCheckpoint();
  // Waits until the last checkpoint is on the disk.
  void FinishCheckpoint();
  // Takes the evaluation of the last checkpoint, to keep the best one.
  void NoteEvaluation(const EvalResult& result);

  [[nodiscard]] std::int64_t step() const { return step_; }
  // Where its threads put their spans; may be null.
  [[nodiscard]] TraceLog* trace() const { return options_.input.trace; }
  // The input as the device sees it: it is the device that waits, not the
  // infeed's thread. From any thread.
  [[nodiscard]] PipelineStats input_stats() const;
  // The same of the time in loops alone.
  [[nodiscard]] PipelineStats input_stats_of_loops() const;
  // What the input may take, in bytes.
  [[nodiscard]] std::int64_t input_memory_bytes() const {
    return records_.memory_bytes();
  }
  // The first step whose loss was not finite.
  [[nodiscard]] std::optional<std::int64_t> non_finite_step() const {
    return non_finite_step_;
  }
  // The steps since the last call, added up.
  [[nodiscard]] EpochScore TakeScore() { return tally_.Take(); }

 private:
  void RunLoop(std::int64_t most_steps, const std::stop_token& stop);
  [[nodiscard]] std::optional<RankWaits> MeetRanks(bool stops, double waited);
  [[nodiscard]] InputOptions WatchedInput(InputOptions input);
  void RequireSameWeights();
  void RequestEnd();
  void Take(const StepResult& result);
  [[nodiscard]] DeviceUse UseOf(std::int64_t steps, int image_size,
                                double seconds, double waited) const;

  TrainingOptions options_;
  DeviceLoop& device_;
  Ranks& ranks_;
  RunLog& log_;
  StepWatch& watch_;
  std::int64_t step_;
  std::int64_t saved_step_;
  double loop_seconds_ = 0;
  bool stopped_ = false;          // one of the ranks was asked to
  bool has_batch_;                // the first one has come
  std::uint32_t compared_epoch_;  // in which the weights were, last
  std::optional<std::int64_t> non_finite_step_;
  EpochTally tally_;
  std::optional<BadRecordsOfRanks> bad_records_;  // where they are limited
  SizedInput records_;
  Infeed infeed_;
  Outfeed outfeed_;
  // Rank 0's alone.
  std::optional<BestCheckpoint> best_;
  std::optional<CheckpointWriter> writer_;
};

}  // namespace infeed
