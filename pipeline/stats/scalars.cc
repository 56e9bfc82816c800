#include "pipeline/stats/scalars.h"

#include "pipeline/stats/bottleneck.h"

namespace infeed {

std::vector<Scalar> StatsScalars(const PipelineStats& interval) {
  if (interval.elapsed_seconds <= 0) {
    return {};
  }
  const Bottleneck bottleneck = BottleneckOf(interval);
  std::vector<Scalar> scalars = {
      {"input/images_per_second", interval.images_per_second()},
      {"input/device_wait", bottleneck.device_wait_share},
      {"input/threads_busy", bottleneck.busy_share},
      {"input/bad_records", static_cast<double>(interval.bad_records)},
      {"input/outside_crops", bottleneck.outside_share}};
  const double threads = interval.threads > 0 ? interval.threads : 1;
  for (const StageStats& stage : interval.stages) {
    if (stage.name != "batch") {  // "batch" does no work.
      scalars.push_back({"input/busy/" + stage.name,
                         stage.busy_seconds / interval.elapsed_seconds /
                             (stage.name == "order" ? 1 : threads)});
    }
  }
  for (const QueueStats& queue : interval.queues) {
    scalars.push_back(
        {"input/queue/" + queue.name, static_cast<double>(queue.depth)});
  }
  return scalars;
}

}  // namespace infeed
