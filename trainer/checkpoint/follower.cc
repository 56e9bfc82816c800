#include "trainer/checkpoint/follower.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

std::function<bool(FollowOptions::Clock::duration)> WaitingUnlessStopped(
    std::stop_token stop) {
  return [stop = std::move(stop)](FollowOptions::Clock::duration time) {
    std::mutex mutex;
    std::condition_variable_any nobody;
    std::unique_lock lock(mutex);
    nobody.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  };
}

bool WaitUntil(const std::function<bool()>& is_there,
               const FollowOptions& options) {
  using Clock = FollowOptions::Clock;
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point start = options.now();
  while (!is_there()) {
    const Seconds left =
        Seconds(options.timeout_seconds) - (options.now() - start);
    if (left.count() <= 0 ||
        !options.wait(std::chrono::duration_cast<Clock::duration>(
            std::min<Seconds>(left, std::chrono::seconds(1))))) {
      return false;
    }
  }
  return true;
}

CheckpointFollower::CheckpointFollower(std::string model_dir,
                                       FollowOptions options)
    : model_dir_(std::move(model_dir)), options_(std::move(options)) {}

std::optional<std::int64_t> CheckpointFollower::Next() {
  std::int64_t newest = last_;
  const auto has_newer = [&] {
    const std::vector<std::int64_t> steps = ListCheckpoints(model_dir_);
    newest = steps.empty() ? newest : steps.back();
    return newest > last_;
  };
  if (!WaitUntil(has_newer, options_)) {
    return std::nullopt;
  }
  last_ = newest;
  return last_;
}

}  // namespace infeed
