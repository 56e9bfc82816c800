#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace infeed {

// Resources of this process, as counted by the kernel.

[[nodiscard]] inline std::size_t OpenDescriptors() {
  // Includes the iterator's own descriptor, in every call.
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                    std::filesystem::directory_iterator()));
}

[[nodiscard]] inline std::size_t RunningThreads() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                    std::filesystem::directory_iterator()));
}

[[nodiscard]] inline std::int64_t ResidentBytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace infeed
