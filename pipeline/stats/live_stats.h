#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "pipeline/stats/stats.h"

namespace infeed {

// Where the statistics of what runs can be had from outside: a run shows its
// pipeline for as long as it lives, and whoever watches reads. Between runs,
// and after the last, it keeps what it saw at the end of one. Thread-safe.
class LiveStats {
 public:
  using Source = std::function<PipelineStats()>;

  // Shows a source while it lives; one at a time.
  class Shown {
   public:
    // live may be null: then nothing is shown. Requires: what source reads
    // outlives this, and may be read from any thread.
    Shown(LiveStats* live, Source source);
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    LiveStats* live_;
  };

  struct Snapshot {
    std::int64_t run = 0;  // the how many-th source, from 1; 0: none yet
    PipelineStats stats;
  };
  [[nodiscard]] Snapshot Read() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t run_ = 0;
  Source source_;  // empty: last_ is all there is
  PipelineStats last_;
};

}  // namespace infeed
