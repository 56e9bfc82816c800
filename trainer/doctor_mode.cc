#include "base/error.h"
#include "trainer/job.h"

namespace infeed {

ExitCode DoctorMode(const RunOptions& options) {
  throw UsageError("device=" + options.device +
                   ": this version does not look at machines");
}

}  // namespace infeed
