#pragma once

#include <sys/resource.h>

#include "base/error.h"

namespace infeed {

// CPU time used so far, user and system; who: as for getrusage().
[[nodiscard]] inline double CpuSeconds(int who = RUSAGE_SELF) {
  struct rusage usage {};
  Check(::getrusage(who, &usage) == 0, "a process knows its usage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace infeed
