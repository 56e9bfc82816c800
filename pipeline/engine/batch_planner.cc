#include "pipeline/engine/batch_planner.h"

#include <optional>
#include <utility>

#include "pipeline/stats/stage_scope.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {

BatchPlanner::BatchPlanner(Prefetcher batches, const InputOptions& options,
                           StageCounters& counters)
    : batches_(std::move(batches)),
      counters_(counters),
      trace_(options.trace),
      open_(static_cast<std::size_t>(options.batches_in_pool)) {}

OpenBatch* BatchPlanner::BeginNext(BatchPool& pool) {
  using Clock = StageCounter::Clock;
  const Clock::time_point asked = Clock::now();
  const std::optional<PlannedBatch> planned = batches_.Next();
  if (!planned) {
    return nullptr;
  }
  const BatchPlan& plan = planned->plan;
  const Clock::time_point start = Clock::now();
  BatchHandle batch = pool.Take();
  if (!batch) {
    return nullptr;
  }
  const Clock::time_point taken = Clock::now();
  OpenBatch& open = open_[static_cast<std::size_t>(count_) % open_.size()];
  open.Begin(count_, *planned, std::move(batch));
  const TracePlace place{
      .epoch = plan.epoch, .position = plan.first, .batch = count_++};
  CountSpan(counters_.order, trace_, place,
            {.start = asked,
             .busy = start - asked,
             .wait = taken - start,
             .items = plan.samples});
  counters_.waiting.Add(plan.samples);
  TraceSpan(trace_, "wait", start, taken, place);
  counters_.TraceQueues(trace_, Clock::now());
  return &open;
}

}  // namespace infeed
