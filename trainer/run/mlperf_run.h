#pragma once

#include <cstdint>

#include "pipeline/order/epoch_batches.h"
#include "trainer/job/job.h"
#include "trainer/log/mlperf_log.h"

namespace infeed {

// The events of a training run in MLPerf's log (RunOptions::mllog), written by
// rank 0. Epochs count from 1; a block lies between two evaluations.
// docs/report.md has the keys.
//
// The job must outlive it. One thread at a time. Throws IoError.
class MlperfRun {
 public:
  // Writes the start event, at the time when the program started, and the facts
  // known before the first step.
  explicit MlperfRun(const Job& job);

  // The training begins: from here on data are read.
  void BeginRun();
  void BeginBlock(std::int64_t step, std::int64_t target);
  void EndBlock(std::int64_t step);
  // Write nothing in an epoch that has begun, and not ended, with this step.
  void BeginEpoch(std::int64_t step);
  void EndEpoch(std::int64_t step);
  void BeginEvaluation(std::int64_t step);
  void EndEvaluation(std::int64_t step, double top_1);
  // The run's end. good: it reached its goal.
  void EndRun(bool good);

  // Whether steps to `target` need to be done epoch by epoch. The same on all
  // ranks.
  [[nodiscard]] bool has_epochs() const { return has_epochs_; }

 private:
  // The epoch of the step that ends with this number of steps.
  [[nodiscard]] std::int64_t EpochOf(std::int64_t step) const;
  [[nodiscard]] MlperfLog::Metadata PlaceOf(std::int64_t step) const;
  void WriteSubmission(const Job& job);
  void WriteTraining(const Job& job);
  void WriteOptimizer(const Job& job);

  EpochBatches epochs_;
  bool has_epochs_;
  std::int64_t block_epoch_ = 1;  // the first one of the block
  bool in_epoch_ = false;
  MlperfLog log_;
};

}  // namespace infeed
