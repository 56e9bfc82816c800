#include "tools/cli/interruption.h"

#include <string>

#include <fmt/format.h>

#include "records/cloud/cloud_settings.h"
#include "tools/cli/signals.h"

namespace infeed {

ProgramEnd RunInterruptibly(
    std::string_view program, std::string_view outcome,
    const std::function<ProgramEnd(const Interruption&)>& work) {
  const SignalStop signals(
      std::string(program) +
      ": stopping; a second signal ends it without cleaning up");
  EndCloudRequestsAt(signals.token());
  try {
    return work(Interruption(signals.token()));
  } catch (const IoError& error) {
    // A call that a signal interrupted may have thrown another error.
    if (!signals.token().stop_requested()) {
      throw;
    }
    return {ExitCode::kStoppedBySignal,
            fmt::format("{}: {}; run the same command again", error.what(),
                        outcome)};
  }
}

}  // namespace infeed
