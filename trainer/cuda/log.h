#pragma once

#include <functional>

namespace infeed {

// Calls call(). If it throws, throws IoError with the same text, without
// LibTorch's backtrace, followed by the lines of CUDA's own log since the call
// (CUDA 13 or later), which say why.
void WithCudaLog(const std::function<void()>& call);

}  // namespace infeed
