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

// What the progress line shows.
struct ProgressState {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double loss = 0;
  double top_1 = 0;
  double learning_rate = 0;
  double images_per_second = 0;  // 0 until known
  double input_wait = 0;         // fraction of the time, 0..1
  bool warm_up = false;          // that rate says nothing of the next ones
  std::optional<double> seconds_left = {};
};

// "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  65.2 images/s  input wait
// 0.5 %  ETA 1m02s". "warm-up" stands before the rate of one; without rate and
// what follows until they are known.
[[nodiscard]] std::string ProgressText(const ProgressState& state);

// What is left of a run at some step.
struct WorkLeft {
  std::int64_t steps = 0;
  std::int64_t evaluations = 0;
};

// A run that evaluates every so many steps from its first one on, and at its
// end; 0: never.
[[nodiscard]] WorkLeft WorkLeftAt(std::int64_t step, std::int64_t first_step,
                                  std::int64_t total_steps,
                                  std::int64_t steps_per_eval);

// A progress line in at most so many columns: of the parts that two spaces
// separate the last go first, but for an ETA, which stays.
[[nodiscard]] std::string FittedLine(std::string_view line,
                                     std::size_t columns);

// One line on stderr that is rewritten in place on a terminal, fitted to its
// width, and a line every few seconds elsewhere.
//
// One thread at a time. Never fails: a line that cannot be shown is not.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // out must outlive the line; now is the time, for tests.
  explicit ProgressLine(std::FILE* out = stderr,
                        std::function<Clock::time_point()> now = Clock::now);

  // Shows the line when it is time to; force shows it at once.
  void Update(std::string_view text, bool force = false);
  // Ends the line in place, so that other text can follow.
  void Finish();
  // Takes it off a terminal again.
  void Erase();

 private:
  std::FILE* out_;
  std::function<Clock::time_point()> now_;
  bool terminal_ = false;
  bool open_ = false;  // The cursor stands behind text of ours.
  std::optional<Clock::time_point> last_;
};

// Seconds as "2h03m", "1m02s", "5s".
[[nodiscard]] std::string ShortDuration(double seconds);

}  // namespace infeed
