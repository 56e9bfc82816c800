#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace infeed {

struct FollowOptions {
  using Clock = std::chrono::steady_clock;

  // How long to wait.
  double timeout_seconds = 0;
  // Sleeps for the time given; returns false if the wait must end now.
  std::function<bool(Clock::duration)> wait = {};
  std::function<Clock::time_point()> now = Clock::now;
};

// A function for FollowOptions::wait that returns false at once on a stop
// request.
[[nodiscard]] std::function<bool(FollowOptions::Clock::duration)>
WaitingUnlessStopped(std::stop_token stop);

// Waits until is_there() is true, which another process causes. Polls it every
// second, the one way that works on every file system. False after the
// time-out, or when `wait` returned false. Throws what is_there() throws.
[[nodiscard]] bool WaitUntil(const std::function<bool()>& is_there,
                             const FollowOptions& options);

// Follows the checkpoints that another process writes into a model directory.
//
// One thread at a time. Throws IoError.
class CheckpointFollower {
 public:
  CheckpointFollower(std::string model_dir, FollowOptions options);

  // Waits for a checkpoint of a later step than those returned, and returns the
  // newest one; older ones are skipped. nullopt after the time-out, or when
  // `wait` returned false.
  [[nodiscard]] std::optional<std::int64_t> Next();

 private:
  std::string model_dir_;
  FollowOptions options_;
  std::int64_t last_ = -1;
};

}  // namespace infeed
