#include "bench/common/cpu_counters.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "pipeline/stats/process_usage.h"

namespace infeed {
namespace {

double CpuSecondsOfAll() {
  return CpuSeconds(RUSAGE_SELF) + CpuSeconds(RUSAGE_CHILDREN);
}

// Opens a counter of the calling thread and of the threads that it starts;
// returns < 0 if the machine, its kernel or its settings allow none.
int OpenInstructionCounter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes,
                                    /*pid=*/0, /*cpu=*/-1, /*group_fd=*/-1,
                                    PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

CpuCounters::CpuCounters()
    : start_seconds_(CpuSecondsOfAll()), counter_(OpenInstructionCounter()) {}

CpuCounters::~CpuCounters() {
  if (counter_ >= 0) {
    ::close(counter_);
  }
}

CpuUse CpuCounters::Read() const {
  CpuUse use{.seconds = CpuSecondsOfAll() - start_seconds_};
  std::int64_t count = 0;
  if (counter_ >= 0 && ::read(counter_, &count, sizeof(count)) ==
                           static_cast<ssize_t>(sizeof(count))) {
    use.instructions = count;
  }
  return use;
}

}  // namespace infeed
