#include "pipeline/stats/consumer_counts.h"

#include <algorithm>

#include "base/seconds.h"

namespace infeed {
namespace {

using Clock = ConsumerCounts::Clock;

// Stores the time unless one is stored.
void SetOnce(std::atomic<Clock::rep>& place, Clock::time_point time) {
  Clock::rep unset = 0;
  place.compare_exchange_strong(unset, time.time_since_epoch().count(),
                                std::memory_order_relaxed);
}

}  // namespace

void ConsumerCounts::Requested(Clock::time_point now) {
  SetOnce(first_request_, now);
}

std::int64_t ConsumerCounts::Delivered(const Batch& batch,
                                       Clock::duration waited) {
  const std::int64_t images = std::ranges::count_if(
      batch.weights(), [](float weight) { return weight > 0; });
  images_.fetch_add(images, std::memory_order_relaxed);
  const bool first = batches_.fetch_add(1, std::memory_order_relaxed) == 0;
  (first ? first_wait_ : waited_)
      .fetch_add(waited.count(), std::memory_order_relaxed);
  return images;
}

void ConsumerCounts::Ended(Clock::time_point now) { SetOnce(ended_, now); }

void ConsumerCounts::Read(PipelineStats& stats) const {
  stats.batches = batches_.load(std::memory_order_relaxed);
  stats.images = images_.load(std::memory_order_relaxed);
  stats.copied_batches = copied_.load(std::memory_order_relaxed);
  stats.first_wait_seconds =
      ToSeconds(Clock::duration(first_wait_.load(std::memory_order_relaxed)));
  stats.consumer_wait_seconds =
      ToSeconds(Clock::duration(waited_.load(std::memory_order_relaxed)));
  const Clock::rep start = first_request_.load(std::memory_order_relaxed);
  if (start == 0) {
    return;
  }
  const Clock::rep ended = ended_.load(std::memory_order_relaxed);
  const Clock::rep end =
      ended != 0 ? ended : Clock::now().time_since_epoch().count();
  stats.elapsed_seconds = ToSeconds(Clock::duration(end - start));
}

}  // namespace infeed
