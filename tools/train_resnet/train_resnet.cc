#include <unistd.h>

#include <string_view>

#include "base/error.h"
#include "base/shared_library.h"
#include "tools/cli/flags.h"
#include "tools/cli/signals.h"
#include "tools/cli/wait_policy.h"
#include "tools/train_resnet/command.h"

namespace infeed {
namespace {

// OpenBLAS, when it is loaded, retries for ever if it cannot get memory.
void RequireAddressSpace() {
  if (!HasAddressSpace(kLibraryBytes)) {
    constexpr std::string_view kWhy =
        "train_resnet: out of memory: LibTorch cannot start under this limit "
        "on memory (ulimit -v, ulimit -d)\n";
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, kWhy.data(), kWhy.size());
    ::_exit(static_cast<int>(ExitCode::kRuntimeError));
  }
}

// Runs before the libraries initialise themselves, for which LibTorch alone
// takes a third of a second: a request to stop waits for a SignalStop, across
// the restart that sets how the OpenMP runtime waits.
void BeginProcess(int /*argc*/, char** argv, char** environment) {
  HoldSignals();
  WaitWithShortSpins(argv, environment);
  KeepSignals();
  RequireAddressSpace();
}
[[gnu::section(".preinit_array"), gnu::used]] auto* before_libraries =
    &BeginProcess;

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::TrainResnet);
}
