#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stats/trace_log.h"

namespace infeed {

struct ProfilerOptions {
  std::string model_dir = {};
  std::int64_t every_n_steps = 0;  // 0: not by steps
  double every_n_seconds = 0;      // 0: not by time
  std::chrono::milliseconds duration{2000};
  std::int64_t first_step = 0;  // of this run
};

// Shares of a profile's time, of the thread that has the device.
struct ProfileShares {
  double input_wait = 0;
  double checkpoints = 0;
  double evaluations = 0;

  // The rest: the device worked, or was given work.
  [[nodiscard]] double device() const {
    return std::max(0.0, 1 - input_wait - checkpoints - evaluations);
  }
};

// The spans of all threads in a window. Requires: it is not empty.
[[nodiscard]] ProfileShares SharesOf(
    const std::vector<TraceLog::Thread>& threads,
    const TraceLog::Window& window);

// What a profile that has ended found.
struct Profile {
  std::int64_t step = 0;  // where it began
  std::string path;       // of its trace
  double seconds = 0;
  ProfileShares shares;
};

// Takes a trace of a run now and then: the first N steps or seconds after its
// begin, and again so long after each begin, for a while, of all threads on
// one time line. One begins at the end of a loop, and not while another lasts.
//
// Owns the log that the threads write to, unless it is given one that somebody
// else keeps; that one is only read. One thread at a time, as TrainLog.
class Profiler {
 public:
  using Clock = TraceLog::Clock;
  using Now = std::function<Clock::time_point()>;

  // shared: may be null. now is the time, for tests.
  Profiler(const ProfilerOptions& options, TraceLog* shared,
           Now now = Clock::now);

  // Where all threads write; null where nobody wants a trace.
  [[nodiscard]] TraceLog* trace() { return log_; }

  // At the end of each step: ends the profile whose time has come. Throws
  // IoError when it cannot be written.
  [[nodiscard]] std::optional<Profile> EndIfDue();
  // Ends the one that lasts.
  [[nodiscard]] std::optional<Profile> End();
  // At the end of each loop.
  void BeginIfDue(std::int64_t step);

 private:
  [[nodiscard]] bool is_due(std::int64_t step) const;

  ProfilerOptions options_;
  Now now_;
  std::optional<TraceLog> own_;
  TraceLog* log_;
  std::int64_t last_step_;
  Clock::time_point last_time_;
  bool running_ = false;
};

}  // namespace infeed
