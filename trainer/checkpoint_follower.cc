#include "trainer/checkpoint_follower.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trainer/checkpoint.h"

namespace infeed {

CheckpointFollower::CheckpointFollower(std::string model_dir,
                                       FollowOptions options)
    : model_dir_(std::move(model_dir)), options_(std::move(options)) {}

std::optional<std::int64_t> CheckpointFollower::Next() {
  using Clock = FollowOptions::Clock;
  const auto timeout = std::chrono::duration<double>(options_.timeout_seconds);
  const Clock::time_point start = options_.now();
  for (;;) {
    const std::vector<std::int64_t> steps = ListCheckpoints(model_dir_);
    if (!steps.empty() && steps.back() > last_) {
      last_ = steps.back();
      return last_;
    }
    const std::chrono::duration<double> left =
        timeout - (options_.now() - start);
    if (left.count() <= 0 ||
        !options_.wait(std::chrono::duration_cast<Clock::duration>(
            std::min<std::chrono::duration<double>>(
                left, std::chrono::seconds(1))))) {
      return std::nullopt;
    }
  }
}

}  // namespace infeed
