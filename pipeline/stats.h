#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/bad_record.h"

namespace infeed {

// What one stage has done since the start. An item is a sample everywhere, so
// that stages compare; a bad record's substitute is one more item of what was
// done for it.
//
//   stage    busy                          wait                     bytes of
//   order    the driver looks records up   the driver, for a free   -
//                                          batch: the consumer
//                                          keeps them, or is slow
//   read     read, checksums, parse        a sample, for a worker   records
//   decode   decode of the window          a sample, for a worker   RGB
//   resize   resize, flip, pack            none: follows at once    slots
//   batch    none: the slots are the batch a whole batch, in the    slots
//                                          queue to the consumer
struct StageStats {
  std::string name;
  std::int64_t items = 0;
  std::int64_t bytes = 0;
  double busy_seconds = 0;  // thread time spent in it, over all threads
  double wait_seconds = 0;
};

// What became of the seek indexes of decoded images, substitutes included.
struct SeekIndexStats {
  std::int64_t used = 0;
  std::int64_t refused = 0;  // damaged or of another JPEG: decoded without it
  std::int64_t none = 0;     // there was none
  std::string first_refused = {};  // its place and why
};

// A snapshot of a whole pipeline. stages are in the order of the data's way.
struct PipelineStats {
  double elapsed_seconds = 0;  // from the first Next() to now, or to the end
  double first_batch_seconds = 0;  // from the start until it lay ready
  int threads = 0;
  std::int64_t batches = 0;
  std::int64_t images = 0;  // delivered, weight 0 left out
  std::int64_t bad_records = 0;
  std::string first_bad_record;  // its message
  BadRecordTotals bad_record_totals;
  SeekIndexStats seek_indexes;
  // How long the consumer waited in Next(): for the first batch, which says
  // nothing about the rest, and for all others together.
  double first_wait_seconds = 0;
  double consumer_wait_seconds = 0;
  std::vector<StageStats> stages;
};

// Counts one stage from any thread. Thread-safe.
class StageCounter {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(std::int64_t bytes, Clock::duration busy, Clock::duration wait,
           std::int64_t items = 1) {
    items_.fetch_add(items, std::memory_order_relaxed);
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

// The counters of all stages, in the order of the data's way.
struct StageCounters {
  StageCounter order;
  StageCounter read;
  StageCounter decode;
  StageCounter resize;
  StageCounter batch;

  [[nodiscard]] std::vector<StageStats> Read() const;
};

// The table of stages as text, one line a stage, with a heading. images/s is
// what one thread would do of the stage alone.
[[nodiscard]] std::string StageTable(const PipelineStats& stats);

// One line, without its end: how many images were decoded with a seek index,
// and of those whose index was refused the first.
[[nodiscard]] std::string SeekIndexText(const SeekIndexStats& stats);

// One or two sentences: which stage bounds the throughput, how far the
// consumer waited, what would change it.
[[nodiscard]] std::string Verdict(const PipelineStats& stats);

}  // namespace infeed
