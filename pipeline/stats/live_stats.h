#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "pipeline/stats/stats.h"

namespace infeed {

// Makes the running pipeline's statistics available to observers: a run
// registers its pipeline while it lives, observers read. Between runs, and
// after the last, it returns the statistics at the end of the last run.
// Thread-safe.
class LiveStats {
 public:
  using Source = std::function<PipelineStats()>;

  // Registers a source while this object lives; one at a time.
  class Shown {
   public:
    // live may be null: then nothing is registered. Requires: what source reads
    // outlives this, and may be read from any thread.
    Shown(LiveStats* live, Source source);
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    LiveStats* live_;
  };

  // nullopt before the first run.
  [[nodiscard]] std::optional<PipelineStats> Read() const;

 private:
  mutable std::mutex mutex_;
  Source source_;  // empty: Read() returns last_
  std::optional<PipelineStats> last_;
};

}  // namespace infeed
