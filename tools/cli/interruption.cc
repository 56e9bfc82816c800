#include "tools/cli/interruption.h"

#include <iostream>
#include <string>

#include "records/cloud/cloud_settings.h"
#include "tools/cli/signals.h"

namespace infeed {

ExitCode RunInterruptibly(
    std::string_view program, std::string_view outcome,
    const std::function<ExitCode(const Interruption&)>& work) {
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
    std::cout.flush();
    std::cerr << program << ": " << error.what() << ": " << outcome
              << "; run the same command again" << std::endl;
    return ExitCode::kStoppedBySignal;
  }
}

}  // namespace infeed
