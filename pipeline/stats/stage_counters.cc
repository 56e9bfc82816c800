#include "pipeline/stats/stage_counters.h"

#include <string>
#include <utility>

#include "base/seconds.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {

StageStats StageCounter::Read() const {
  return {.name = std::string(name_),
          .items = items_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .busy_seconds =
              ToSeconds(Clock::duration(busy_.load(std::memory_order_relaxed))),
          .wait_seconds = ToSeconds(
              Clock::duration(wait_.load(std::memory_order_relaxed)))};
}

QueueStats QueueGauge::Read() const {
  return {.name = std::string(name_),
          .depth = depth(),
          .most = most_.load(std::memory_order_relaxed)};
}

void QueueGauge::Trace(TraceLog& log,
                       StageCounter::Clock::time_point now) const {
  log.Count(name_, now, depth());
}

std::vector<StageStats> StageCounters::Read() const {
  std::vector<StageStats> stages = {order.Read(), read.Read(), decode.Read(),
                                    resize.Read()};
  for (const StageCounter* const counter : {&augment, &receive}) {
    if (StageStats stage = counter->Read(); stage.items > 0) {
      stages.push_back(std::move(stage));
    }
  }
  stages.push_back(batch.Read());
  return stages;
}

std::vector<QueueStats> StageCounters::ReadQueues() const {
  return {waiting.Read(), in_flight.Read(), ready.Read()};
}

void StageCounters::TraceQueues(TraceLog* log,
                                StageCounter::Clock::time_point now) const {
  if (log != nullptr) {
    waiting.Trace(*log, now);
    in_flight.Trace(*log, now);
    ready.Trace(*log, now);
  }
}

}  // namespace infeed
