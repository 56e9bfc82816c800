#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infeed {

// Memory, in bytes, that this machine's processes may use: the smallest of the
// machine's memory and the limits of this process's control group and its
// ancestors (memory.max in version 2, memory.limit_in_bytes in version 1).
// root: the folder that contains /proc and /sys. Throws IoError when the
// machine's memory cannot be read.
[[nodiscard]] std::int64_t MachineMemory(const std::string& root = "");

// Bytes that these processes may still take: the smallest of what is free in
// the machine and in the control groups; reclaimable page cache counts as free.
// Throws what MachineMemory() throws.
[[nodiscard]] std::int64_t AvailableMemory(const std::string& root = "");

// This process's peak resident memory so far, libraries included.
[[nodiscard]] std::int64_t PeakRssBytes();

// Parses "4GiB" or "512MB" (records/bytes/byte_size.h), or "50%" of
// MachineMemory(), to bytes. The limit is for all ranks on this machine
// together; the memory plan divides it. Throws UsageError naming memory_limit,
// and what MachineMemory() throws.
[[nodiscard]] std::int64_t ParseMemoryLimit(std::string_view text,
                                            const std::string& root = "");

}  // namespace infeed
