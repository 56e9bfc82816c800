#pragma once

namespace infeed {

// Threads of one input pipeline, for InputOptions::threads and all that sets
// it.
inline constexpr int kMostThreads = 1 << 10;

}  // namespace infeed
