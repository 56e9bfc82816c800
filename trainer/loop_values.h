#pragma once

#include <vector>

#include "pipeline/stats_scalars.h"
#include "trainer/device_use.h"
#include "trainer/metrics_log.h"

// What a loop says of its device and of the ranks, for metrics.jsonl and for
// TensorBoard.
namespace infeed {

[[nodiscard]] MetricsLog::Values DeviceValues(const DeviceUse& use);
[[nodiscard]] std::vector<Scalar> DeviceScalars(const DeviceUse& use);

// How the ranks' inputs kept up, as shares of the loop's time.
struct RankWaits {
  bool is_known = false;  // there are several
  double worst = 0;
  double mean = 0;
};

// Of how long each waited in a loop of so many seconds.
[[nodiscard]] RankWaits RankWaitsOf(const std::vector<double>& waits,
                                    double seconds);

// Nothing where they are not known.
[[nodiscard]] MetricsLog::Values RankValues(const RankWaits& waits);
[[nodiscard]] std::vector<Scalar> RankScalars(const RankWaits& waits);

}  // namespace infeed
