#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/choices.h"
#include "trainer/log/run_origin.h"

namespace infeed {

// A step or a loop of training. NaN: metrics.jsonl has no such number.
struct HistoryPoint {
  std::int64_t step = 0;
  double loss = 0;
  double top_1 = 0;
  double learning_rate = 0;
  double images_per_second = 0;
  double input_wait = 0;
  bool warm_up = false;
};

// The rolling hash of a training's input after a loop.
struct HistoryFingerprint {
  std::int64_t step = 0;  // the last one in it
  std::uint64_t value = 0;
  bool has_pixels = false;  // input_hash is "pixels"
};

// An evaluation of the training itself.
struct HistoryEvaluation {
  std::int64_t step = 0;
  std::string name = {};  // EvalSubject::name()
  double loss = 0;
  double top_1 = 0;
  double top_5 = 0;
};

// How a run ended: it reached its last step or its goal, it was stopped, or its
// loss was not finite. The names are those of metrics.jsonl.
enum class RunEnd { kDone, kStopped, kDiverged };
inline constexpr Choices<RunEnd, 3> kRunEnds = {
    {{"done", RunEnd::kDone},
     {"stopped", RunEnd::kStopped},
     {"diverged", RunEnd::kDiverged}}};

// One start of the program, from its first step on.
struct HistoryRun {
  std::int64_t first_step = 0;
  double start_time = 0;  // Unix seconds
  double last_time = 0;   // of its newest event
  std::int64_t last_step = 0;
  std::optional<RunEnd> end = {};
  // From the event that the warm-up writes.
  std::optional<double> start_up_seconds = {};
  std::optional<double> warm_up_seconds = {};
  std::optional<double> first_batch_seconds = {};
  // From the event that begins it: the texts, and the images of a batch, 0 if
  // the event has no such number.
  RunOrigin origin = {};
  std::int64_t batch_size = 0;
};

// A whole training over all its runs, read from metrics.jsonl. Steps that a
// later run repeated replace the earlier ones. Other lines, and lines that are
// not JSON, are skipped.
//
// Memory grows with the file, by some 60 bytes for each line. One thread at a
// time.
class RunHistory {
 public:
  explicit RunHistory(std::string model_dir);

  // Reads the lines that were added since the last call. Throws IoError when
  // the file exists and cannot be read.
  void Update();

  // The points of "train" events, or of "loop" events if there are none.
  [[nodiscard]] const std::vector<HistoryPoint>& steps() const {
    return steps_.empty() ? loops_ : steps_;
  }
  // Of "loop" events, by step; those without a fingerprint are left out.
  [[nodiscard]] const std::vector<HistoryFingerprint>& fingerprints() const {
    return fingerprints_;
  }
  [[nodiscard]] const std::vector<HistoryEvaluation>& evaluations() const {
    return evaluations_;
  }
  // Evaluations that are not the training's own, the newest one last: events
  // other_eval, and the training's evaluations from before its validation
  // changed.
  [[nodiscard]] const std::vector<HistoryEvaluation>& other_evaluations()
      const {
    return other_evaluations_;
  }
  [[nodiscard]] const std::vector<HistoryRun>& runs() const { return runs_; }

  // Whether the checkpoint of this step was left behind: a later run began from
  // an earlier step, and since then no run wrote one of this step or began from
  // it.
  [[nodiscard]] bool HasLeft(std::int64_t checkpoint_step) const {
    return left_.contains(checkpoint_step);
  }

  // One line of the file.
  void Add(std::string_view line);

 private:
  void BeginRun(const HistoryRun& run);
  void AddEvaluation(const HistoryEvaluation& evaluation);
  void AddOther(const HistoryEvaluation& evaluation);

  std::string path_;
  std::int64_t read_ = 0;  // bytes of the file
  std::vector<HistoryPoint> steps_;
  std::vector<HistoryPoint> loops_;
  std::vector<HistoryFingerprint> fingerprints_;
  std::vector<HistoryEvaluation> evaluations_;
  std::vector<HistoryEvaluation> other_evaluations_;
  std::vector<HistoryRun> runs_;
  std::set<std::int64_t> left_;
};

}  // namespace infeed
