#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infeed {

// Bytes that the processes of this machine may have: its memory, or the limit
// of the control group that this process is in, or of one above it (memory.max
// of version 2, memory.limit_in_bytes of version 1), whichever is least. root:
// where /proc and /sys are looked for. Throws IoError when the machine does not
// say.
[[nodiscard]] std::int64_t MachineMemory(const std::string& root = "");

// Bytes that they may still take: what is free in the machine, and in the
// control groups, counting what the system only keeps of files. Throws as
// MachineMemory().
[[nodiscard]] std::int64_t AvailableMemory(const std::string& root = "");

// The most memory that this process has had so far, libraries included.
[[nodiscard]] std::int64_t PeakRssBytes();

// Bytes of "4GiB" or "512MB" (records/bytes/byte_size.h), or of "50%", that
// share of MachineMemory(). Of all ranks on this machine: the plan divides it.
// Throws UsageError naming memory_limit, IoError as MachineMemory().
[[nodiscard]] std::int64_t ParseMemoryLimit(std::string_view text,
                                            const std::string& root = "");

}  // namespace infeed
