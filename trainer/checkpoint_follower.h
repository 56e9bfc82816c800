#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace infeed {

struct FollowOptions {
  using Clock = std::chrono::steady_clock;

  // How long no new checkpoint may come.
  double timeout_seconds = 0;
  // Waits, and returns false where it is to end instead.
  std::function<bool(Clock::duration)> wait = {};
  std::function<Clock::time_point()> now = Clock::now;
};

// Follows the checkpoints that another process writes into a model folder, by
// a look at it every second: there is no other way on every file system.
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
