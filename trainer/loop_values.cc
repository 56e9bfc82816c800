#include "trainer/loop_values.h"

#include <algorithm>
#include <numeric>

namespace infeed {

// A CPU has no host that could wait for it.
MetricsLog::Values DeviceValues(const DeviceUse& use) {
  MetricsLog::Values values = {{"device_busy", use.busy_share()},
                               {"tflops", use.tflops()},
                               {"gb_per_second", use.gb_per_second()}};
  if (use.host_syncs > 0) {
    values.emplace_back("host_syncs", use.syncs_per_loop());
  }
  return values;
}

std::vector<Scalar> DeviceScalars(const DeviceUse& use) {
  std::vector<Scalar> scalars = {{"device/busy", use.busy_share()},
                                 {"device/tflops", use.tflops()},
                                 {"device/gb_per_second", use.gb_per_second()}};
  if (use.host_syncs > 0) {
    scalars.push_back({"device/host_syncs", use.syncs_per_loop()});
  }
  return scalars;
}

RankWaits RankWaitsOf(const std::vector<double>& waits, double seconds) {
  if (waits.size() < 2 || seconds <= 0) {
    return {};
  }
  return {.is_known = true,
          .worst = std::ranges::max(waits) / seconds,
          .mean = std::accumulate(waits.begin(), waits.end(), 0.0) /
                  static_cast<double>(waits.size()) / seconds};
}

MetricsLog::Values RankValues(const RankWaits& waits) {
  if (!waits.is_known) {
    return {};
  }
  return {{"input_wait_of_worst_rank", waits.worst},
          {"input_wait_of_ranks", waits.mean}};
}

std::vector<Scalar> RankScalars(const RankWaits& waits) {
  if (!waits.is_known) {
    return {};
  }
  return {{"ranks/input_wait_worst", waits.worst},
          {"ranks/input_wait_mean", waits.mean}};
}

}  // namespace infeed
