#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {

// A stage's work on a sample or a batch.
struct StageSpan {
  StageCounter::Clock::time_point start;
  StageCounter::Clock::duration busy{};
  StageCounter::Clock::duration wait{};  // before it
  std::int64_t bytes = 0;
  std::int64_t items = 1;
};

// Counts a stage's work, and adds it to the trace if log is not null.
inline void CountSpan(StageCounter& counter, TraceLog* log,
                      const TracePlace& place, const StageSpan& work) {
  counter.Add(work.bytes, work.busy, work.wait, work.items);
  TraceSpan(log, counter.name(), work.start, work.start + work.busy, place);
}

// Counts and traces a stage's work on a sample that begins with the scope and
// ends with it.
class StageScope {
 public:
  using Clock = StageCounter::Clock;

  // start: now, as the caller has read the clock already. since: when the
  // sample began to wait for the stage; it is set to the end of the work.
  // Counter, log and since must outlive the scope.
  StageScope(StageCounter& counter, TraceLog* log, const TracePlace& place,
             Clock::time_point start, Clock::time_point& since)
      : counter_(counter),
        log_(log),
        place_(place),
        start_(start),
        since_(since) {}
  ~StageScope() {
    const Clock::time_point end = Clock::now();
    CountSpan(counter_, log_, place_,
              {.start = start_,
               .busy = end - start_,
               .wait = start_ - std::exchange(since_, end),
               .bytes = bytes_});
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

  void set_bytes(std::size_t bytes) {
    bytes_ = static_cast<std::int64_t>(bytes);
  }

 private:
  StageCounter& counter_;
  TraceLog* const log_;
  const TracePlace place_;
  const Clock::time_point start_;
  Clock::time_point& since_;
  std::int64_t bytes_ = 0;
};

}  // namespace infeed
