#pragma once

#include <optional>
#include <vector>

#include "pipeline/stats/scalars.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_history.h"
#include "trainer/model/device_use.h"
#include "trainer/model_dir/metrics_log.h"

// What a loop says of its device and of the ranks, for metrics.jsonl and for
// TensorBoard, and what the end of a run says.
namespace infeed {

[[nodiscard]] MetricsLog::Values DeviceValues(const DeviceUse& use);
[[nodiscard]] std::vector<Scalar> DeviceScalars(const DeviceUse& use);

// How the ranks' inputs kept up, as shares of the seconds of a loop. Empty
// where a single process runs.
[[nodiscard]] MetricsLog::Values RankValues(
    const std::optional<RankWaits>& waits, double seconds);
[[nodiscard]] std::vector<Scalar> RankScalars(
    const std::optional<RankWaits>& waits, double seconds);

// How a run ended, where its time went, and the most memory that it had.
[[nodiscard]] MetricsLog::Values EndValues(const RunTimes& times,
                                           const DeviceCeilings& ceilings,
                                           RunEnd end);

}  // namespace infeed
