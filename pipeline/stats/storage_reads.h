#pragma once

#include <cstdint>

namespace infeed {

// Bytes that this process has caused to be read from block devices since it
// began, as counted by the kernel: reads that were not in the page cache, and
// read-ahead. 0 where the kernel does not count, as for network file systems.
// Thread-safe.
[[nodiscard]] std::int64_t StorageBytesRead();

}  // namespace infeed
