#include "trainer/log/loop_values.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "pipeline/memory/memory_limit.h"

namespace infeed {

// The host never waits for a CPU.
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

MetricsLog::Values RankValues(const std::optional<RankWaits>& waits,
                              double seconds) {
  if (!waits || seconds <= 0) {
    return {};
  }
  return {{"input_wait_of_worst_rank", waits->worst / seconds},
          {"input_wait_of_ranks", waits->mean / seconds}};
}

std::vector<Scalar> RankScalars(const std::optional<RankWaits>& waits,
                                double seconds) {
  if (!waits || seconds <= 0) {
    return {};
  }
  return {{"ranks/input_wait_worst", waits->worst / seconds},
          {"ranks/input_wait_mean", waits->mean / seconds}};
}

MetricsLog::Values EndValues(const RunTimes& times,
                             const DeviceCeilings& ceilings, RunEnd end) {
  MetricsLog::Values values = {
      {"state", std::string(RunEndName(end))},
      {"seconds", times.total},
      {"warm_up_seconds", times.start_up + times.warm_up},
      {"checkpoint_seconds", times.checkpoints},
      {"evaluation_seconds", times.evaluations},
      {"between_loops_seconds", times.between},
      {"tflops_measured", ceilings.tflops},
      {"gb_per_second_measured", ceilings.gb_per_second},
      {"peak_memory_bytes", PeakRssBytes()}};
  std::ranges::copy(DeviceValues(times.device), std::back_inserter(values));
  return values;
}

}  // namespace infeed
