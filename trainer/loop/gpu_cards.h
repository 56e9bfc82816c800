#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/log/machine_check.h"

namespace infeed {

// What CUDA finds on this machine: the versions of driver, runtime and NCCL,
// then each card's name, compute capability and memory. Never fails: what is
// missing is a finding.
[[nodiscard]] std::vector<Finding> CheckCards();

// Gives the memory that LibTorch keeps for later back to the cards.
void ReleaseCachedMemory();

// Bytes that the current card has free, those that LibTorch keeps for later
// among them: it gives them back. Throws c10::Error.
[[nodiscard]] std::int64_t FreeCardMemory();

// "13.0" for CUDA's 13000.
[[nodiscard]] std::string CudaVersionText(int version);

}  // namespace infeed
