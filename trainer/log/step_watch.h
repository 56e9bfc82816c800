#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace infeed {

struct StepWatchOptions {
  using Clock = std::chrono::steady_clock;

  // How long the first step may take before a line is printed; absent: no line.
  std::optional<Clock::duration> patience = std::chrono::seconds(10);
  std::string work = {};    // of a step: "64 images of 224 x 224 pixels"
  std::string advice = {};  // what makes steps shorter: "a smaller image_size"
  // Prints a line; from any thread.
  std::function<void(const std::string&)> say = {};
  std::function<Clock::time_point()> now = Clock::now;
};

// Prints that a step is taking long while it runs: the first step of a run, and
// the step that a stop request waits for.
//
// Thread-safe. Never fails.
class StepWatch {
 public:
  explicit StepWatch(StepWatchOptions options);
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  // A step has begun; each later one begins as the step before ends.
  void Begin(std::int64_t step);
  // This step has ended.
  void Done(std::int64_t step);
  // No step runs until the next Begin().
  void Pause() {
    const std::lock_guard lock(mutex_);
    running_.reset();
  }
  // A stop was requested: prints the step that it waits for, if steps take
  // seconds.
  void StopRequested();

 private:
  using Clock = StepWatchOptions::Clock;

  void WaitForFirst();

  StepWatchOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::int64_t> running_;  // the step
  Clock::time_point start_;              // when it began
  std::optional<Clock::duration> last_;  // duration of the step before
  bool is_over_ = false;                 // the first step ended, or the watch
  std::jthread thread_;                  // Last: it uses the members above.
};

}  // namespace infeed
