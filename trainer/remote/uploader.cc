#include "trainer/remote/uploader.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace infeed {

Uploader::Uploader(Round round, Options options)
    : round_(std::move(round)),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Uploader::~Uploader() = default;

void Uploader::Wake() {
  const std::lock_guard lock(mutex_);
  ++requested_;
  changed_.notify_all();
}

bool Uploader::Finish(Clock::duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++requested_;
  hurries_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, stop, at_most, [&] { return done_ >= mine; });
}

void Uploader::Run(const std::stop_token& stop) {
  Clock::duration wait = options_.first_wait;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const std::uint64_t requested = requested_;
    lock.unlock();
    const bool good = Try(stop);
    lock.lock();
    if (good) {
      done_ = requested;
      changed_.notify_all();
      wait = options_.first_wait;
      changed_.wait_for(lock, stop, options_.period,
                        [&] { return requested_ > requested; });
    } else {
      const bool hurries =
          changed_.wait_for(lock, stop, wait, [this] { return hurries_; });
      hurries_ = false;
      wait =
          hurries ? options_.first_wait : std::min(2 * wait, options_.period);
    }
  }
}

bool Uploader::Try(const std::stop_token& stop) {
  try {
    round_(stop);
  } catch (const std::exception& error) {
    if (!std::exchange(failing_, true) && !stop.stop_requested()) {
      options_.say(std::string("an upload failed and will be tried again: ") +
                   error.what());
    }
    return false;
  }
  if (std::exchange(failing_, false)) {
    options_.say("uploads work again");
  }
  return true;
}

}  // namespace infeed
