#pragma once

#include <cstdint>
#include <optional>

namespace infeed {

// The CPU use of a region of a program.
struct CpuUse {
  // User and system time of all threads, and of children that were waited for.
  double seconds = 0;
  // Instructions retired in user mode; none if the machine gives access to no
  // counter, as usual in virtual machines and containers.
  std::optional<std::int64_t> instructions = {};
};

// Counts from its construction on: this process, threads that the calling
// thread starts later, their threads, and child processes. For threads that
// already ran, time is counted, but not instructions.
//
// Owns the counter. One thread at a time.
class CpuCounters {
 public:
  CpuCounters();
  ~CpuCounters();
  CpuCounters(const CpuCounters&) = delete;
  CpuCounters& operator=(const CpuCounters&) = delete;

  [[nodiscard]] CpuUse Read() const;

 private:
  double start_seconds_;
  int counter_;  // a file descriptor; < 0: none
};

}  // namespace infeed
