#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace infeed {

// The values that the progress line shows.
struct ProgressState {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double loss = 0;
  double top_1 = 0;
  double learning_rate = 0;
  double images_per_second = 0;  // 0 until known
  double input_wait = 0;         // fraction of the time, 0..1
  bool warm_up = false;          // the rate is not reliable yet
  std::optional<double> seconds_left = {};
};

// "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  65.2 images/s  input wait
// 0.5 %  ETA 1m02s". During warm-up "warm-up" precedes the rate. The rate and
// the parts after it are left out until they are known.
[[nodiscard]] std::string ProgressText(const ProgressState& state);

// Shortens a progress line to at most `columns`: drops its parts, which two
// spaces separate, from the end, but keeps the ETA.
[[nodiscard]] std::string FittedLine(std::string_view line,
                                     std::size_t columns);

// A progress line on stderr. On a terminal it is rewritten in place and fitted
// to the width; elsewhere a new line is printed every few seconds.
//
// One thread at a time. Never fails: a line that cannot be printed is dropped.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // out must outlive the line. Tests can pass their own clock as `now`.
  explicit ProgressLine(std::FILE* out = stderr,
                        std::function<Clock::time_point()> now = Clock::now);

  // Delays the first line by the update interval, for work that mostly ends
  // earlier. Requires: called before Update().
  void Delay() { last_ = start_; }
  // Whether the update interval has passed, for text that is costly to make.
  [[nodiscard]] bool IsDue() const;
  // Shows the line if it is due, or at once with force.
  void Update(std::string_view text, bool force = false);
  // Ends the line shown in place with a newline, so that other text can follow.
  void Finish();
  // Clears the line on a terminal.
  void Erase();

  // Seconds since construction.
  [[nodiscard]] double seconds() const;

 private:
  std::FILE* out_;
  std::function<Clock::time_point()> now_;
  Clock::time_point start_;
  bool terminal_ = false;
  bool open_ = false;  // The cursor is behind our text.
  std::optional<Clock::time_point> last_;
};

// Seconds as "2h03m", "1m02s", "5s".
[[nodiscard]] std::string ShortDuration(double seconds);

}  // namespace infeed
