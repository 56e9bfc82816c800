#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/scores/eval_result.h"

namespace infeed {

// Remembers which checkpoint of a model folder had the best evaluation, over
// resumes too: MODEL_DIR/best.json, {"schema":1,"metric":"top_1","step":7,
// "value":0.5}. Only a strictly better one takes its place.
//
// One thread at a time. Throws IoError, and DataError for a file that is
// damaged.
class BestCheckpoint {
 public:
  // metric as MetricOf() takes it, or "none": then nothing is remembered. What
  // the file says of another metric, or of a checkpoint that is gone, is
  // forgotten.
  BestCheckpoint(std::string model_dir, std::string metric);

  // Takes the evaluation of a checkpoint that is on the disk. Returns whether
  // it is the best so far; one that is not a finite number never is.
  bool Note(std::int64_t step, const EvalResult& result);

  // The best one's; nullopt while there is none.
  [[nodiscard]] std::optional<std::int64_t> step() const { return step_; }

 private:
  std::string model_dir_;
  std::string metric_;
  std::optional<std::int64_t> step_;
  double value_ = 0;
};

// The step that a model folder's best.json names; nullopt where there is none,
// or a damaged one.
[[nodiscard]] std::optional<std::int64_t> RecordedBestStep(
    const std::string& model_dir);

}  // namespace infeed
