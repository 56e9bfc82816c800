#include "trainer/device_log.h"

namespace infeed {

MetricsLog::Values DeviceValues(const DeviceUse& use) {
  MetricsLog::Values values = {{"device_busy", use.busy_share()},
                               {"tflops", use.tflops()},
                               {"gb_per_second", use.gb_per_second()}};
  if (use.host_syncs > 0) {  // A CPU has no host that could wait for it.
    values.emplace_back("host_syncs", use.syncs_per_loop());
  }
  return values;
}

void WriteDeviceScalars(const DeviceUse& use, std::int64_t step,
                        SummaryWriter& summaries) {
  summaries.Scalar("device/busy", use.busy_share(), step);
  summaries.Scalar("device/tflops", use.tflops(), step);
  summaries.Scalar("device/gb_per_second", use.gb_per_second(), step);
  if (use.host_syncs > 0) {
    summaries.Scalar("device/host_syncs", use.syncs_per_loop(), step);
  }
}

}  // namespace infeed
