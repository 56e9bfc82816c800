#pragma once

#include <cstdint>

#include "trainer/device_use.h"
#include "trainer/metrics_log.h"
#include "trainer/summary_writer.h"

// What a device reached, as the logs have it: docs/report.md.
namespace infeed {

// For metrics.jsonl.
[[nodiscard]] MetricsLog::Values DeviceValues(const DeviceUse& use);

// For TensorBoard. Throws IoError.
void WriteDeviceScalars(const DeviceUse& use, std::int64_t step,
                        SummaryWriter& summaries);

}  // namespace infeed
