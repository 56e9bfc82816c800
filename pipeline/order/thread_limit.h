#pragma once

namespace infeed {

// Upper bound of InputOptions::threads and of the flags that set it.
inline constexpr int kMostThreads = 1 << 10;

}  // namespace infeed
