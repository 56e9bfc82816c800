#pragma once

#include <string>

#include "trainer/model/device_use.h"
#include "trainer/model/options.h"

namespace infeed {

// Measures a device's highest speeds: of a matrix product in this precision,
// and of a copy within its memory. Takes a few tenths of a second, and
// 1.5 GB of a GPU's memory or 100 MB of the machine's. Throws UsageError as
// IsGpu().
[[nodiscard]] DeviceCeilings MeasureCeilings(const std::string& device,
                                             Precision precision);

}  // namespace infeed
