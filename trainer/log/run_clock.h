#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/ratio.h"
#include "pipeline/stats/trace_log.h"
#include "trainer/model/device_use.h"

namespace infeed {

// Where the time of a training run went, in seconds.
struct RunTimes {
  double total = 0;     // since the start
  double start_up = 0;  // until the first loop
  double warm_up = 0;   // first steps, which are slower than the rest
  double steady = 0;    // time in loops after the warm-up
  double between = 0;   // between loops, without checkpoints and evaluations
  double checkpoints = 0;
  double evaluations = 0;
  double input_wait = 0;  // of steady: the device waited for its infeed
  double drain = 0;       // of the loops: the host was still reading results
  std::int64_t warm_up_steps = 0;
  std::int64_t steady_steps = 0;
  std::int64_t loops = 0;
  std::int64_t evaluation_count = 0;
  // Excludes the first loop, unless it is the only one.
  DeviceUse device = {};

  // The host's own work between steps, which longer loops would reduce.
  [[nodiscard]] double between_steps() const { return between + drain; }
  // A fraction of the steady time, 0..1.
  [[nodiscard]] double input_wait_share() const {
    return Share(input_wait, steady);
  }
  // Excludes the warm-up, unless there are no other steps yet.
  [[nodiscard]] double images_per_second(int batch_size) const;
};

// How long ranks waited for their infeeds in a loop, in seconds.
struct RankWaits {
  double worst = 0;  // the longest of a rank
  double mean = 0;
};

struct LoopEnd {
  std::int64_t step = 0;  // reached
  std::int64_t done = 0;  // steps that the loop ran
  double waited = 0;      // by the device for its infeed, in all loops so far
  double drained = 0;     // from the last step until all results were read
  DeviceUse device = {};  // of this loop
  std::optional<RankWaits> rank_waits = {};  // none: a single process runs
  // Of all that was fed since the first step, of all ranks (Batch::fed).
  std::uint64_t input_fingerprint = 0;
};

struct RunClockOptions {
  int batch_size = 1;  // global; > 0
  // The first steps are slower than the rest: their batches must be made,
  // memory allocated, and on a GPU graphs captured. > 0
  int warm_up_steps = 1;
  // Gets the spans of loops, checkpoints and evaluations; may be null.
  TraceLog* trace = nullptr;
};

// Measures a run's speed, with the warm-up separate. Time between two loops
// counts as a checkpoint or an evaluation if EndCheckpoint() or EndEvaluation()
// ends it.
//
// One thread at a time, as TrainLog.
class RunClock {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // now: the clock; tests replace it.
  explicit RunClock(const RunClockOptions& options, Now now = Clock::now);

  // waited: the total time that the device has waited for its infeed so far.
  void BeginLoop(double waited);
  void Step(double waited);
  void EndLoop(const LoopEnd& end);
  void EndCheckpoint(std::int64_t step) {
    times_.checkpoints += EndSpan("checkpoint", step);
  }
  void EndEvaluation(std::int64_t step) {
    times_.evaluations += EndSpan("evaluation", step);
    ++times_.evaluation_count;
  }

  // A weighted mean over the newest steps after the warm-up; during the
  // warm-up, over its steps; 0 before the first Step().
  [[nodiscard]] double images_per_second() const {
    return Ratio(options_.batch_size, newest_seconds_);
  }
  // The fraction of the time between the last two calls of Step(), 0..1.
  [[nodiscard]] double input_wait() const { return input_wait_; }
  // The mean of the steps after the warm-up; 0 while there is none.
  [[nodiscard]] double seconds_per_step() const {
    return Ratio(steady_seconds_, static_cast<double>(steady_steps_));
  }
  // Whether the newest step was in the warm-up.
  [[nodiscard]] bool in_warm_up() const { return in_warm_up_; }

  [[nodiscard]] RunTimes times() const;

 private:
  double SinceMark();
  double EndSpan(std::string_view name, std::int64_t step);
  void AverageTime(double seconds);
  void WarmUp(double seconds, double waited);

  RunClockOptions options_;
  Now now_;
  Clock::time_point start_;
  Clock::time_point mark_;       // the end of the last span
  Clock::time_point last_step_;  // or the start of the loop
  // The warm-up's part of this loop.
  double warm_up_seconds_ = 0;
  std::int64_t warm_up_steps_ = 0;
  double waited_at_step_ = 0;    // in all, at last_step_
  double waited_at_steady_ = 0;  // at the end of the loop's warm-up
  double steady_seconds_ = 0;    // of steps after the warm-up
  std::int64_t steady_steps_ = 0;
  double newest_seconds_ = 0;  // of a step, the newest ones weighing most
  double input_wait_ = 0;
  bool is_steady_ = false;  // newest_seconds_ is of steps after the warm-up
  bool in_warm_up_ = true;
  bool warmed_up_ = false;
  RunTimes times_;
};

}  // namespace infeed
