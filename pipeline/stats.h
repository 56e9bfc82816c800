#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// What one stage has done since the start.
struct StageStats {
  std::string name;
  std::int64_t items = 0;
  std::int64_t bytes = 0;   // in its own unit: encoded, decoded, packed
  double busy_seconds = 0;  // worker time spent in it, over all workers
  double wait_seconds = 0;  // docs/architecture.md says what waited for what
};

// A snapshot of a whole pipeline. stages are in the order of the data's way.
struct PipelineStats {
  double elapsed_seconds = 0;  // since the first batch was asked for
  double first_batch_seconds = 0;
  int threads = 0;
  std::int64_t batches = 0;
  std::int64_t images = 0;  // delivered, weight 0 left out
  std::int64_t bad_records = 0;
  std::string first_bad_record;  // its message
  // How long the consumer waited in Next() in all, the first batch left out.
  double consumer_wait_seconds = 0;
  std::vector<StageStats> stages;
};

// Counts one stage from any thread. Thread-safe.
class StageCounter {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(std::int64_t bytes, Clock::duration busy, Clock::duration wait) {
    items_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    busy_.fetch_add(busy.count(), std::memory_order_relaxed);
    wait_.fetch_add(wait.count(), std::memory_order_relaxed);
  }
  [[nodiscard]] StageStats Read(std::string name) const;

 private:
  std::atomic<std::int64_t> items_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> busy_{0};
  std::atomic<std::int64_t> wait_{0};
};

// The table of stages as text, one line a stage, with a heading.
[[nodiscard]] std::string StageTable(const PipelineStats& stats);

// One or two sentences: which stage bounds the throughput, how far the
// consumer waited, what would change it.
[[nodiscard]] std::string Verdict(const PipelineStats& stats);

}  // namespace infeed
