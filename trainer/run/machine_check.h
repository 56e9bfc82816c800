#pragma once

#include <string>
#include <vector>

#include "trainer/log/findings.h"

// The checks of --mode doctor that do not need LibTorch.
namespace infeed {

// The machine and what this process may use of it: processor and vector code,
// cores and their quota, memory, limits of open files and of locked memory,
// huge pages, /dev/shm, and the loaded libraries of linear algebra and threads.
// root: the folder of /proc, /sys and /dev. Findings that cannot be read are
// left out. Never throws.
[[nodiscard]] std::vector<Finding> CheckMachine(const std::string& root = "");

}  // namespace infeed
