#include "trainer/feed/outfeed.h"

#include <pthread.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace infeed {
namespace {

// Results that may wait for a slow sink before the device waits too. They are
// small, so that a sink that writes a file does not hold up the loop.
constexpr std::size_t kCapacity = 1024;

constexpr std::int64_t kFailed = -1;

}  // namespace

Outfeed::Outfeed(Sink sink)
    : sink_(std::move(sink)), queue_(kCapacity), thread_([this] { Run(); }) {}

Outfeed::~Outfeed() { queue_.Close(); }

void Outfeed::Run() {
  (void)::pthread_setname_np(::pthread_self(), "outfeed");
  try {
    while (const std::optional<StepResult> result = queue_.Pop()) {
      sink_(*result);
      seen_.fetch_add(1, std::memory_order_release);
      seen_.notify_one();
    }
  } catch (...) {
    error_ = std::current_exception();
    seen_.store(kFailed, std::memory_order_release);
    seen_.notify_one();
    queue_.Cancel();  // Wakes a Put() that waits for room.
  }
}

void Outfeed::Put(const StepResult& result) {
  ++put_;
  if (!queue_.Push(result)) {
    Drain();  // The queue closes only after a failure: rethrows it.
  }
}

void Outfeed::Drain() {
  for (;;) {
    const std::int64_t seen = seen_.load(std::memory_order_acquire);
    if (seen == kFailed) {
      std::rethrow_exception(error_);
    }
    if (seen == put_) {
      return;
    }
    seen_.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace infeed
