#include "base/error.h"
#include "trainer/job.h"

namespace infeed {

ExitCode ExportMode(const Job& job) {
  throw UsageError("model_dir=" + job.options.model_dir +
                   ": this version does not export");
}

}  // namespace infeed
