#include "base/error.h"
#include "trainer/job.h"

namespace infeed {

ExitCode PredictMode(const Job& job, const std::stop_token& stop) {
  static_cast<void>(stop);
  throw UsageError("model_dir=" + job.options.model_dir +
                   ": this version does not predict");
}

}  // namespace infeed
