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

  // How long the first step may take in silence; absent: for ever.
  std::optional<Clock::duration> patience = std::chrono::seconds(10);
  std::string work = {};  // of a step: "64 images of 224 x 224 pixels"
  // Prints a line; from any thread.
  std::function<void(const std::string&)> say = {};
  std::function<Clock::time_point()> now = Clock::now;
};

// Prints that a step takes long while it runs, which is when a user wonders: of
// a run's first step, and of the one for whose end a request to stop waits.
//
// Thread-safe. Never fails.
class StepWatch {
 public:
  explicit StepWatch(StepWatchOptions options);
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  // A step has its batch, and those after it begin as one ends.
  void Begin(std::int64_t step);
  // This step has ended.
  void Done(std::int64_t step);
  // No step runs until the next Begin().
  void Pause();
  // A stop is asked for: prints for which step it waits, where steps take
  // seconds.
  void StopAsked();

 private:
  using Clock = StepWatchOptions::Clock;

  void WaitForFirst();

  StepWatchOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::int64_t> running_;  // the step
  Clock::time_point start_;              // its
  std::optional<Clock::duration> last_;  // what the step before took
  bool is_over_ = false;                 // the first step, or the watch
  std::jthread thread_;                  // Last: it uses the members above.
};

}  // namespace infeed
