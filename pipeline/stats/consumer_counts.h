#pragma once

#include <atomic>
#include <cstdint>

#include "pipeline/memory/batch.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// Counts a stream's batches and waits from the consumer's side, in Next().
// Thread-safe.
class ConsumerCounts {
 public:
  using Clock = StageCounter::Clock;

  // The consumer has called Next().
  void Requested(Clock::time_point now);
  // The consumer got a batch. Returns its images: the slots of weight > 0.
  std::int64_t Delivered(const Batch& batch, Clock::duration waited);
  // The batch that the consumer gets is a copy.
  void Copied() { copied_.fetch_add(1, std::memory_order_relaxed); }
  // The stream is over.
  void Ended(Clock::time_point now);

  // Fills in elapsed_seconds, batches, images, copied_batches and the two
  // waits.
  void Read(PipelineStats& stats) const;

 private:
  std::atomic<Clock::rep> first_request_{0};  // 0: not yet
  std::atomic<Clock::rep> ended_{0};          // 0: not yet
  std::atomic<Clock::rep> first_wait_{0};
  std::atomic<Clock::rep> waited_{0};  // for all batches but the first
  std::atomic<std::int64_t> batches_{0};
  std::atomic<std::int64_t> images_{0};
  std::atomic<std::int64_t> copied_{0};
};

}  // namespace infeed
