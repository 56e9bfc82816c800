#include "pipeline/stats/stage_counters.h"

#include <utility>

#include "base/seconds.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {

StageStats StageCounter::Read(std::string name) const {
  return {.name = std::move(name),
          .items = items_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .busy_seconds =
              ToSeconds(Clock::duration(busy_.load(std::memory_order_relaxed))),
          .wait_seconds = ToSeconds(
              Clock::duration(wait_.load(std::memory_order_relaxed)))};
}

QueueStats QueueGauge::Read(std::string name) const {
  return {.name = std::move(name),
          .depth = depth(),
          .most = most_.load(std::memory_order_relaxed)};
}

std::vector<StageStats> StageCounters::Read() const {
  std::vector<StageStats> stages = {order.Read("order"), read.Read("read"),
                                    decode.Read("decode"),
                                    resize.Read("resize")};
  if (StageStats augmented = augment.Read("augment"); augmented.items > 0) {
    stages.push_back(std::move(augmented));
  }
  stages.push_back(batch.Read("batch"));
  return stages;
}

std::vector<QueueStats> StageCounters::ReadQueues() const {
  return {waiting.Read("waiting"), in_flight.Read("in_flight"),
          ready.Read("ready")};
}

void StageCounters::TraceQueues(TraceLog* log,
                                StageCounter::Clock::time_point now) const {
  if (log != nullptr) {
    log->Count("waiting", now, waiting.depth());
    log->Count("in_flight", now, in_flight.depth());
    log->Count("ready", now, ready.depth());
  }
}

}  // namespace infeed
