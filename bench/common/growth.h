#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace infeed {

// The resources that a process held at one moment.
struct Holding {
  double seconds = 0;  // since the start
  std::int64_t bytes = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

// Returns what has grown in a process that should not grow: "memory grew from
// 200 to 300 MiB", "open files grew from 9 to 12"; empty: nothing. Compares the
// maximum of the last quarter with the maximum of the second quarter, as the
// first is for warming up; memory may grow by an eighth plus 8 MiB, as
// allocators vary. Requires: 8 or more holdings, in order.
[[nodiscard]] std::string DescribeGrowth(std::span<const Holding> holdings);

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
