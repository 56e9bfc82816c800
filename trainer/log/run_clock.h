#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "pipeline/stats/trace_log.h"
#include "trainer/model/device_use.h"

namespace infeed {

// Where the time of a training run went, in seconds.
struct RunTimes {
  double total = 0;     // since the start
  double start_up = 0;  // until the first loop
  double warm_up = 0;   // the first loop's part that says nothing of the rest
  double steady = 0;    // of the loops, after the warm-up
  double between = 0;   // from loop to loop, without the next two
  double checkpoints = 0;
  double evaluations = 0;
  double input_wait = 0;  // of steady: the device waited for its infeed
  double drain = 0;       // of the loops: the host was behind with the results
  std::int64_t warm_up_steps = 0;
  std::int64_t steady_steps = 0;
  std::int64_t loops = 0;
  std::int64_t evaluation_count = 0;
  // Of whole loops: those after the first, or that one while it is alone.
  DeviceUse device = {};

  // The host's own work between steps: what longer loops would save.
  [[nodiscard]] double between_steps() const { return between + drain; }
  // A fraction of the steady time, 0..1.
  [[nodiscard]] double input_wait_share() const;
  // Of the steady steps, or of all while there are no others.
  [[nodiscard]] double images_per_second(int batch_size) const;
};

// How long ranks waited for their infeeds in a loop, in seconds.
struct RankWaits {
  double worst = 0;  // of one rank
  double mean = 0;
};

// How a loop ended.
struct LoopEnd {
  std::int64_t step = 0;  // reached
  std::int64_t done = 0;  // steps of it
  double waited = 0;      // by the device for its infeed so far, in all
  double drained = 0;     // after its last step, until all results were seen
  DeviceUse device = {};  // of this loop
  std::optional<RankWaits> rank_waits = {};  // none: a single process runs
};

struct RunClockOptions {
  int batch_size = 1;  // global; > 0
  // The first steps say nothing of the rest: their batch has to be made, memory
  // found, and on a GPU graphs captured. > 0
  int warm_up_steps = 1;
  // Gets the spans of loops, checkpoints and evaluations; may be null.
  TraceLog* trace = nullptr;
};

// Tells a run's speed, warm-up apart. Time between two loops goes to whatever
// is said to have ended there.
//
// One thread at a time, as TrainLog.
class RunClock {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // now is the time, for tests.
  explicit RunClock(const RunClockOptions& options, Now now = Clock::now);

  // waited: for how long the device has waited for its infeed so far, in all.
  void BeginLoop(double waited);
  void Step(double waited);
  void EndLoop(const LoopEnd& end);
  void EndCheckpoint(std::int64_t step);
  void EndEvaluation(std::int64_t step);

  // Of the newest steps, weighted, without warm-up; before its end the
  // warm-up's own; 0 until a step has been told.
  [[nodiscard]] double images_per_second() const;
  // Between the newest two steps told, 0..1.
  [[nodiscard]] double input_wait() const { return input_wait_; }
  // The mean of the steps told after the warm-up; 0 while there is none.
  [[nodiscard]] double seconds_per_step() const;
  // Whether the newest step was of the warm-up.
  [[nodiscard]] bool in_warm_up() const { return in_warm_up_; }

  [[nodiscard]] RunTimes times() const;

 private:
  double SinceMark();
  double EndSpan(std::string_view name, std::int64_t step);
  void TellTime(double seconds);
  void WarmUp(double seconds, double waited);

  RunClockOptions options_;
  Now now_;
  Clock::time_point start_;
  Clock::time_point mark_;  // the last end of anything
  Clock::time_point loop_start_;
  Clock::time_point last_step_;  // or the begin of the loop
  // What of this loop is warm-up.
  double warm_up_seconds_ = 0;
  std::int64_t warm_up_steps_ = 0;
  double waited_at_step_ = 0;    // in all, at last_step_
  double waited_at_steady_ = 0;  // where the loop's warm-up ended
  double told_seconds_ = 0;      // of steps after the warm-up
  std::int64_t told_steps_ = 0;
  double newest_seconds_ = 0;  // of a step, the newest ones weighing most
  double input_wait_ = 0;
  bool is_steady_ = false;  // newest_seconds_
  bool in_warm_up_ = true;
  bool warmed_up_ = false;
  RunTimes times_;
};

}  // namespace infeed
