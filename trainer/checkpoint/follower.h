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

  // How long what is waited for may not come.
  double timeout_seconds = 0;
  // Waits, and returns false where it is to end instead.
  std::function<bool(Clock::duration)> wait = {};
  std::function<Clock::time_point()> now = Clock::now;
};

// A FollowOptions::wait that a request to stop ends at once.
[[nodiscard]] std::function<bool(FollowOptions::Clock::duration)>
WaitingUnlessStopped(std::stop_token stop);

// Waits until is_there(), which another process makes true, by a look at it
// every second: there is no other way on every file system. False when it did
// not come in time, or the wait has ended. Throws what is_there() throws.
[[nodiscard]] bool WaitUntil(const std::function<bool()>& is_there,
                             const FollowOptions& options);

// Follows the checkpoints that another process writes into a model folder.
//
// One thread at a time. Throws IoError.
class CheckpointFollower {
 public:
  CheckpointFollower(std::string model_dir, FollowOptions options);

  // Waits for a checkpoint of a later step than those returned, and returns the
  // newest: others in between are passed over. nullopt when none came in time,
  // or the wait has ended.
  [[nodiscard]] std::optional<std::int64_t> Next();

 private:
  std::string model_dir_;
  FollowOptions options_;
  std::int64_t last_ = -1;
};

}  // namespace infeed
