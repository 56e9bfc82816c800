#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// A step or a loop of training. NaN: metrics.jsonl has no number there.
struct HistoryPoint {
  std::int64_t step = 0;
  double loss = 0;
  double top_1 = 0;
  double learning_rate = 0;
  double images_per_second = 0;
  double input_wait = 0;
  bool warm_up = false;
};

struct HistoryEvaluation {
  std::int64_t step = 0;
  double loss = 0;
  double top_1 = 0;
  double top_5 = 0;
};

// How a run ended: at its last step or its goal, by a request to stop, or by a
// loss that is not finite.
enum class RunEnd { kDone, kStopped, kDiverged };

// "done", "stopped", "diverged": as in metrics.jsonl.
[[nodiscard]] std::string_view RunEndName(RunEnd end);

// One start of the program, from its first step on.
struct HistoryRun {
  std::int64_t first_step = 0;
  double start_time = 0;  // Unix seconds
  double last_time = 0;   // of its newest event
  std::int64_t last_step = 0;
  // Older files do not say how: done.
  std::optional<RunEnd> end = {};
  // Of its warm-up.
  std::optional<double> start_up_seconds = {};
  std::optional<double> warm_up_seconds = {};
  std::optional<double> first_batch_seconds = {};
};

// A whole training as metrics.jsonl tells it, over all its runs: what a later
// run did again takes the place of the earlier. Lines that say nothing, or are
// no JSON, are passed over.
//
// Memory grows with the file, by some 60 bytes a line. One thread at a time.
class RunHistory {
 public:
  explicit RunHistory(std::string model_dir);

  // Reads the lines that were added since the last time. Throws IoError when
  // the file is there and cannot be read.
  void Update();

  // Of "train", or where there are none of "loop".
  [[nodiscard]] const std::vector<HistoryPoint>& steps() const {
    return steps_.empty() ? loops_ : steps_;
  }
  [[nodiscard]] const std::vector<HistoryPoint>& loops() const {
    return loops_;
  }
  [[nodiscard]] const std::vector<HistoryEvaluation>& evaluations() const {
    return evaluations_;
  }
  [[nodiscard]] const std::vector<std::int64_t>& checkpoints() const {
    return checkpoints_;
  }
  [[nodiscard]] const std::vector<HistoryRun>& runs() const { return runs_; }

  // One line of the file.
  void Add(std::string_view line);

 private:
  void BeginRun(std::int64_t step, double time);

  std::string path_;
  std::int64_t read_ = 0;  // bytes of the file
  std::vector<HistoryPoint> steps_;
  std::vector<HistoryPoint> loops_;
  std::vector<HistoryEvaluation> evaluations_;
  std::vector<std::int64_t> checkpoints_;
  std::vector<HistoryRun> runs_;
};

}  // namespace infeed
