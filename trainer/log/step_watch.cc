#include "trainer/log/step_watch.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/seconds.h"

namespace infeed {
namespace {

// Waits for shorter steps are not reported.
constexpr std::chrono::seconds kLong{2};

std::string Text(StepWatchOptions::Clock::duration time) {
  return ShortDuration(ToSeconds(time));
}

}  // namespace

StepWatch::StepWatch(StepWatchOptions options) : options_(std::move(options)) {}

StepWatch::~StepWatch() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

void StepWatch::Begin(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  running_ = step;
  start_ = options_.now();
  if (!thread_.joinable() && options_.patience) {
    thread_ = std::jthread([this] { WaitForFirst(); });
  }
}

void StepWatch::Done(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = options_.now();
  last_ = now - start_;
  start_ = now;
  running_ = step + 1;
  is_over_ = true;
  changed_.notify_all();
}

void StepWatch::WaitForFirst() {
  (void)::pthread_setname_np(::pthread_self(), "step watch");
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, *options_.patience,
                         [this] { return is_over_; })) {
    options_.say(
        fmt::format("the first step has taken {} so far, for {}; {} makes "
                    "shorter steps",
                    Text(*options_.patience), options_.work, options_.advice));
  }
}

void StepWatch::StopRequested() {
  const std::lock_guard lock(mutex_);
  if (!running_) {
    return;
  }
  const Clock::duration so_far = options_.now() - start_;
  if (std::max(so_far, last_.value_or(so_far)) < kLong) {
    return;
  }
  options_.say(fmt::format(
      "waiting for the end of step {}, which has taken {} so far{}", *running_,
      Text(so_far),
      last_ ? fmt::format("; the step before took {}", Text(*last_)) : ""));
}

}  // namespace infeed
