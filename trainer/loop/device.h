#pragma once

#include <string>

#include <torch/types.h>

namespace infeed {

// Has LibTorch compute with this many threads, 0: one for each core, and
// returns how many it took. LibTorch's own default is one thread in some
// builds. Throws UsageError for a negative number.
int SetThreads(int threads);

// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N". Throws
// UsageError for another name, or a GPU that is not there.
[[nodiscard]] torch::Device ParseDevice(const std::string& name);

}  // namespace infeed
