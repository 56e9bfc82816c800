#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace infeed {

// What the progress line shows.
struct ProgressState {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  std::int64_t first_step = 0;  // of this run
  double loss = 0;
  double top_1 = 0;
  double learning_rate = 0;
  double images_per_second = 0;  // 0 until known
  double input_wait = 0;         // fraction of the time, 0..1
};

// "step 120/500  loss 1.234  top-1 45.3 %  lr 0.100  65.2 images/s  input wait
// 0.5 %  ETA 1m02s".
[[nodiscard]] std::string ProgressText(const ProgressState& state);

// One line on stderr that is rewritten in place on a terminal, and a line each
// few seconds elsewhere. One thread at a time.
class ProgressLine {
 public:
  ProgressLine();

  // Shows the line when it is time to; force shows it at once.
  void Update(const std::string& text, bool force = false);
  // Ends the line in place, so that other text can follow.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = false;
  bool open_ = false;
  std::size_t width_ = 0;
  Clock::time_point last_;
};

// Seconds as "2h03m", "1m02s", "5s".
[[nodiscard]] std::string ShortDuration(double seconds);

}  // namespace infeed
