#pragma once

#include <optional>
#include <vector>

#include "pipeline/stats/scalars.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_history.h"
#include "trainer/model/device_use.h"
#include "trainer/model_dir/metrics_log.h"

// Values about a loop's device and ranks, and about the end of a run, for
// metrics.jsonl and TensorBoard.
namespace infeed {

[[nodiscard]] MetricsLog::Values DeviceValues(const DeviceUse& use);
[[nodiscard]] std::vector<Scalar> DeviceScalars(const DeviceUse& use);

// How long the ranks waited for their inputs, as fractions of a loop's time.
// Empty where a single process runs.
[[nodiscard]] MetricsLog::Values RankValues(
    const std::optional<RankWaits>& waits, double seconds);
[[nodiscard]] std::vector<Scalar> RankScalars(
    const std::optional<RankWaits>& waits, double seconds);

// How a run ended, where its time went, and its peak memory.
[[nodiscard]] MetricsLog::Values EndValues(const RunTimes& times,
                                           const DeviceCeilings& ceilings,
                                           RunEnd end);

}  // namespace infeed
