#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "tools/cloud_flags.h"
#include "tools/flags.h"
#include "tools/observation.h"
#include "tools/signals.h"
#include "tools/train_flags.h"
#include "trainer/params.h"
#include "trainer/run.h"

namespace infeed {
namespace {

ExitCode Main(int argc, char** argv) {
  // First, so that every thread leaves the signals to its own.
  const SignalStop signals;
  std::optional<TrainFlags> flags = ReadTrainFlags(argc, argv);
  if (!flags) {
    return ExitCode::kDone;
  }
  RunOptions& run = flags->run;
  run.params = ReadParams(flags->layers);
  if (flags->print_config) {
    fmt::print("{}", ConfigText(run));
    return ExitCode::kDone;
  }
  ApplyCloudFlags(flags->cloud);
  Observation observation(flags->observation, {{"run", run.model_dir}});
  run.live_stats = observation.live();
  run.trace = observation.trace();
  const ExitCode code = Run(run, signals.token());
  observation.Finish();
  return code;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Main);
}
