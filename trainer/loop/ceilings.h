#pragma once

#include <string>

#include "trainer/model/device_use.h"

namespace infeed {

// Measures the most that a device does: a product of matrices in bfloat16 or
// float32, and a copy within its memory. Takes a few tenths of a second, and
// 1.5 GB of a GPU's memory, 100 MB of the machine's. Throws UsageError as
// IsGpu().
[[nodiscard]] DeviceCeilings MeasureCeilings(const std::string& device,
                                             bool in_bfloat16);

}  // namespace infeed
