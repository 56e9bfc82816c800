#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "preprocess/pixels/image_size.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/save.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/sized_input.h"
#include "trainer/log/run_log.h"
#include "trainer/log/step_watch.h"
#include "trainer/ranks/bad_records_of_ranks.h"
#include "trainer/run/job.h"

namespace infeed {

// What a Training borrows and takes besides its job.
struct TrainingParts {
  InputOptions input;  // of this rank
  // The device already has the images (DeviceLoop::Hold()); null: it has not.
  HeldRecords held = nullptr;
  RunIdentity validation;  // for checkpoints
  RunLog& log;
  StepWatch& watch;
};

// Runs training between evaluations: connects input pipeline, infeed, device
// loop and outfeed. Steps run in loops of iterations_per_loop; the last loop,
// and the last one before another image size, may be shorter. During a loop,
// the host only counts steps.
//
// With several ranks, all of them make the same calls. They end at the same
// step, whichever rank was asked to stop; rank 0 writes the checkpoints. When a
// checkpoint is due or an epoch has ended, throws IoError unless all ranks have
// the same weights.
//
// The job and the references in `parts` must outlive it. One thread at a time.
class Training {
 public:
  enum class End { kReached, kStopped, kDiverged };

  Training(const Job& job, const TrainingParts& parts, const RunStart& start);

  // Trains until `target` updates are done, and writes the checkpoints that are
  // due. A stop request ends it after the current step.
  [[nodiscard]] End TrainTo(std::int64_t target, const std::stop_token& stop);

  // Writes a checkpoint of the current state, or begins to, unless the last one
  // is of this step. Returns false, and writes none, if weights are not finite:
  // an update can make them so after a finite loss.
  [[nodiscard]] bool SaveCheckpoint();
  // Waits until the last checkpoint is on the disk.
  void FinishCheckpoint();
  // Takes the metric of keep_best of the evaluation of the last checkpoint, or
  // of an earlier one that is on the disk, if it has one, to find the best.
  void NoteEvaluation(std::int64_t step, std::optional<double> value);

  [[nodiscard]] std::int64_t step() const { return step_; }
  // The log of its threads' spans; may be null.
  [[nodiscard]] TraceLog* trace() const { return parts_.input.trace; }
  // Statistics of the input, in which the waits are those of the device, not of
  // the host's thread. From any thread.
  [[nodiscard]] PipelineStats input_stats() const;
  // input_stats() for the time in loops only.
  [[nodiscard]] PipelineStats input_stats_of_loops() const;
  // The memory that the input may use, in bytes.
  [[nodiscard]] std::int64_t input_memory_bytes() const {
    return records_->memory_bytes();
  }
  // The first step whose loss was not finite.
  [[nodiscard]] std::optional<std::int64_t> non_finite_step() const {
    return non_finite_step_;
  }

 private:
  void RunLoop(std::int64_t most_steps, const std::stop_token& stop);
  // Also adds the ranks' fingerprints.
  [[nodiscard]] std::optional<RankWaits> ExchangeWaits(bool stops,
                                                       double waited);
  [[nodiscard]] InputOptions WithBadRecordCount(InputOptions input);
  void RequireSameWeights();
  void RequestEnd();
  void Take(const StepResult& result);
  [[nodiscard]] DeviceUse MeasureUse(std::int64_t steps,
                                     const ImageSize& image_size,
                                     double seconds, double waited) const;

  const Job& job_;
  const TrainParams& params_;
  TrainingParts parts_;
  RunIdentity identity_;
  KeepOptions keep_;  // which checkpoints stay
  DeviceLoop& device_;
  Ranks& ranks_;
  RunLog& log_;
  StepWatch& watch_;
  std::int64_t step_;
  std::int64_t saved_step_;
  const std::uint64_t
      fed_before_;             // the fingerprint at the start, of all ranks
  std::uint64_t fingerprint_;  // after the last loop
  double loop_seconds_ = 0;
  bool stopped_ = false;          // one of the ranks was asked to stop
  bool has_batch_;                // the first batch has arrived
  std::uint32_t compared_epoch_;  // in which weights were last compared
  std::optional<std::int64_t> non_finite_step_;
  std::optional<BadRecordsOfRanks> bad_records_;  // if max_bad_records is set
  std::shared_ptr<SizedInput> records_;
  Infeed infeed_;
  Outfeed outfeed_;
  // On rank 0 only.
  std::optional<BestCheckpoint> best_;
  std::optional<CheckpointWriter> writer_;
};

}  // namespace infeed
