#pragma once

#include <string>

#include "base/error.h"

namespace infeed {

// The error of a run whose GPU failed. device: "cuda:0"; where: "after step
// 41"; words: CUDA's.
[[nodiscard]] inline IoError DeviceFailure(const std::string& device,
                                           const std::string& where,
                                           const std::string& words) {
  return IoError(device + " failed " + where + ": " + words +
                 " (run the same command again: it continues from the last "
                 "checkpoint; with CUDA_LAUNCH_BLOCKING=1 and "
                 "cuda_graph=false the error names the place)");
}

}  // namespace infeed
