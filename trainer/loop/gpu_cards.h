#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/log/findings.h"

namespace infeed {

// CUDA on this machine: the versions of driver, runtime and NCCL, then each
// card's name, compute capability and memory. Never throws: a problem is
// reported as a finding.
[[nodiscard]] std::vector<Finding> CheckCards();

// Returns the memory that LibTorch caches to the cards.
void ReleaseCachedMemory();

// The free bytes of the current card, after LibTorch's cache has been returned
// to it. Throws c10::Error.
[[nodiscard]] std::int64_t FreeCardMemory();

// "13.0" for CUDA's 13000.
[[nodiscard]] std::string CudaVersionText(int version);

}  // namespace infeed
