#pragma once

#include <cstdint>

namespace infeed {

// Bytes that this process had read from block devices since it began, by the
// kernel's account: what it asked for and was not in the page cache, and what
// was read ahead for it. 0 where nothing is counted, as with network file
// systems. Thread-safe.
[[nodiscard]] std::int64_t StorageBytesRead();

}  // namespace infeed
