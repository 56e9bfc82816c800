#pragma once

#include <cstdint>
#include <optional>

namespace infeed {

// What a region of a program took of its cores.
struct CpuUse {
  // User and system time of all threads, and of children that were waited for.
  double seconds = 0;
  // Retired in user mode; none where the machine shows no counter, which is
  // the rule in virtual machines and containers.
  std::optional<std::int64_t> instructions = {};
};

// Counts from its construction on: this process, the threads that the calling
// thread starts from then on, their threads, and child processes. Threads that
// ran before have their time counted, but not their instructions.
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
  int counter_;  // a file descriptor; below 0: there is none
};

}  // namespace infeed
