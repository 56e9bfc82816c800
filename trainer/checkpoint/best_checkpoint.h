#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace infeed {

// Remembers which checkpoint of a model directory had the best evaluation, also
// after a resume, in MODEL_DIR/best.json:
// {"schema":1,"metric":"top_1","validation":"1a2b3c4d","step":7,"value":0.5}.
// Only a strictly better checkpoint replaces it.
//
// One thread at a time. Throws IoError, and DataError for a damaged file.
class BestCheckpoint {
 public:
  // metric: as in FindMetric(), or "none" to remember nothing. validation: the
  // key of the evaluations (EvalSubject). If the file is about another metric,
  // other evaluations, or a checkpoint that no longer exists, it is ignored.
  BestCheckpoint(std::string model_dir, std::string metric,
                 std::string validation = "");

  // Takes the metric of the evaluation of a checkpoint that is on disk, if it
  // has one. Returns whether it is the best so far; a value that is not finite
  // never is.
  bool Note(std::int64_t step, std::optional<double> value);

  // The step of the best checkpoint; nullopt while there is none.
  [[nodiscard]] std::optional<std::int64_t> step() const { return step_; }

 private:
  std::string model_dir_;
  std::string metric_;
  std::string validation_;
  std::optional<std::int64_t> step_;
  double value_ = 0;
};

// Removes best.json if it names a later step: a training goes on from before.
// A damaged file stays: a training without keep_best does not need it. Throws
// IoError.
void ForgetBestAfter(std::int64_t step, const std::string& model_dir);

// The step in a model directory's best.json; nullopt where the file is missing
// or damaged.
[[nodiscard]] std::optional<std::int64_t> RecordedBestStep(
    const std::string& model_dir);

}  // namespace infeed
