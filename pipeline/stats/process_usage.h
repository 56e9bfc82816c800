#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "base/error.h"

namespace infeed {

// What the kernel has counted so far; who: as for getrusage(). Thread-safe.
[[nodiscard]] inline rusage ProcessUsage(int who = RUSAGE_SELF) {
  rusage usage{};
  Check(::getrusage(who, &usage) == 0, "a process knows its usage");
  return usage;
}

// CPU time, user and system.
[[nodiscard]] inline double CpuSeconds(int who = RUSAGE_SELF) {
  const rusage usage = ProcessUsage(who);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Bytes that this process has caused to be read from block devices: reads that
// were not in the page cache, and read-ahead. 0 where the kernel does not
// count, as for network file systems.
[[nodiscard]] inline std::int64_t StorageBytesRead() {
  constexpr std::int64_t kBlockBytes = 512;  // for every device
  return ProcessUsage().ru_inblock * kBlockBytes;
}

}  // namespace infeed
