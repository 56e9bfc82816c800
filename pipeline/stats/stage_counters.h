#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/stats/stats.h"

namespace infeed {

class TraceLog;

// Bytes of a cache line: counters that share one slow each other down.
inline constexpr std::size_t kCacheLine = 64;

// Counts one stage from any thread. Thread-safe.
class alignas(kCacheLine) StageCounter {
 public:
  using Clock = std::chrono::steady_clock;

  // name: of the stage, in statistics and traces. Requires: it has static
  // storage.
  explicit StageCounter(std::string_view name) : name_(name) {}

  void Add(std::int64_t bytes, Clock::duration busy, Clock::duration wait,
           std::int64_t items = 1) {
    items_.fetch_add(items, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    busy_.fetch_add(busy.count(), std::memory_order_relaxed);
    wait_.fetch_add(wait.count(), std::memory_order_relaxed);
  }
  [[nodiscard]] StageStats Read() const;
  [[nodiscard]] std::string_view name() const { return name_; }

 private:
  const std::string_view name_;
  std::atomic<std::int64_t> items_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> busy_{0};
  std::atomic<std::int64_t> wait_{0};
};

// The length of a queue, now and at its maximum. Thread-safe.
class alignas(kCacheLine) QueueGauge {
 public:
  // name: as a StageCounter's.
  explicit QueueGauge(std::string_view name) : name_(name) {}

  // Adds the number of entries that came, or below 0 that left. An entry's
  // arrival is added before its departure.
  void Add(std::int64_t change) {
    const std::int64_t depth =
        depth_.fetch_add(change, std::memory_order_relaxed) + change;
    std::int64_t most = most_.load(std::memory_order_relaxed);
    while (depth > most && !most_.compare_exchange_weak(
                               most, depth, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::int64_t depth() const {
    return depth_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] QueueStats Read() const;
  // Adds the length to a trace.
  void Trace(TraceLog& log, StageCounter::Clock::time_point now) const;

 private:
  const std::string_view name_;
  std::atomic<std::int64_t> depth_{0};
  std::atomic<std::int64_t> most_{0};
};

// The counters of all stages, in the order in which a sample passes them, and
// the gauges of the queues between them.
struct StageCounters {
  StageCounter order{"order"};
  StageCounter read{"read"};
  StageCounter decode{"decode"};
  StageCounter resize{"resize"};
  StageCounter augment{"augment"};
  StageCounter receive{"receive"};
  StageCounter batch{"batch"};
  QueueGauge waiting{"waiting"};
  QueueGauge in_flight{"in_flight"};
  QueueGauge ready{"ready"};
  alignas(kCacheLine) std::atomic<std::int64_t> outside_pixels{0};
  std::atomic<std::int64_t> cut_lists{0};

  [[nodiscard]] std::vector<StageStats> Read() const;
  [[nodiscard]] std::vector<QueueStats> ReadQueues() const;
  // Adds the gauges to a trace, if log is not null.
  void TraceQueues(TraceLog* log, StageCounter::Clock::time_point now) const;
};

}  // namespace infeed
