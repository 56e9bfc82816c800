#include "pipeline/stats/storage_reads.h"

#include <sys/resource.h>

#include "base/error.h"

namespace infeed {

std::int64_t StorageBytesRead() {
  constexpr std::int64_t kBlockBytes = 512;  // for every device
  struct rusage usage {};
  Check(::getrusage(RUSAGE_SELF, &usage) == 0, "a process knows its usage");
  return usage.ru_inblock * kBlockBytes;
}

}  // namespace infeed
