#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stats/trace_log.h"
#include "trainer/log/operations.h"

namespace infeed {

struct ProfilerOptions {
  std::string model_dir = {};
  std::int64_t every_n_steps = 0;  // 0: no profiles
  std::chrono::milliseconds duration{2000};
  std::int64_t first_step = 0;       // of this run
  DeviceRecorder* device = nullptr;  // may be null; outlives the profiler
};

// Fractions of a profile's time, in the device's thread.
struct ProfileShares {
  double input_wait = 0;
  double checkpoints = 0;
  double evaluations = 0;

  // The rest: the device computed, or the host enqueued its work.
  [[nodiscard]] double device() const {
    return std::max(0.0, 1 - input_wait - checkpoints - evaluations);
  }
};

// The fractions in a window, from the spans of all threads. Requires: the
// window is not empty.
[[nodiscard]] ProfileShares ComputeShares(
    const std::vector<TraceLog::Thread>& threads,
    const TraceLog::Window& window);

struct Profile {
  std::int64_t step = 0;  // where it began
  std::string path;       // of its trace
  double seconds = 0;
  ProfileShares shares;
  DeviceTotals totals = {};
  // Why the device's operations are not all there; told once.
  std::string problem = {};
};

// "The GPU computed in 93.1 % of the time".
[[nodiscard]] std::string BusyText(const DeviceTotals& totals);

// The profile's dearest operations as an HTML table; "" if it has none.
[[nodiscard]] std::string OperationsTable(const Profile& profile);

// Takes traces of a run at intervals, each of all threads and the device on one
// time line. The first begins every_n_steps after the run's start, each later
// one as long after the start of the one before; each lasts for `duration`. A
// trace begins at the end of a loop, and not while another one is running.
//
// Owns the log that the threads write to, unless it is passed a shared one,
// which it only reads. One thread at a time, as TrainLog; BeginIfDue(),
// EndAfterLoopIfDue() and End() in the device's.
class Profiler {
 public:
  using Clock = TraceLog::Clock;
  using Now = std::function<Clock::time_point()>;

  // shared: may be null. now is the time, for tests.
  Profiler(const ProfilerOptions& options, TraceLog* shared,
           Now now = Clock::now);

  // The log to which all threads write; null where no trace is needed.
  [[nodiscard]] TraceLog* trace() { return log_; }

  // Call it at the end of each step: ends the current profile if its duration
  // has passed; where it records a device, a step or two later, as a record
  // ends between two steps. Throws IoError when it cannot be written; here and
  // below.
  [[nodiscard]] std::optional<Profile> EndIfDue() {
    return is_over() &&
                   (options_.device == nullptr || options_.device->RequestEnd())
               ? End()
               : std::nullopt;
  }
  // The same at the end of each loop, when no step is running.
  [[nodiscard]] std::optional<Profile> EndAfterLoopIfDue() {
    return is_over() ? End() : std::nullopt;
  }
  // Ends the current profile.
  [[nodiscard]] std::optional<Profile> End();
  // Call it at the end of each loop.
  void BeginIfDue(std::int64_t step);

 private:
  [[nodiscard]] bool is_due(std::int64_t step) const {
    return options_.every_n_steps > 0 &&
           step - last_step_ >= options_.every_n_steps;
  }
  [[nodiscard]] bool is_over() const {
    return running_ && now_() - last_time_ >= options_.duration;
  }

  ProfilerOptions options_;
  Now now_;
  std::optional<TraceLog> own_;
  TraceLog* log_;
  std::int64_t last_step_;
  Clock::time_point last_time_;
  bool running_ = false;
  bool told_problem_ = false;
};

}  // namespace infeed
