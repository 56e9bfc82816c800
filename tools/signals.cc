#include "tools/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"

namespace infeed {
namespace {

// Ends the waiting thread; sent by the destructor to that thread alone.
constexpr int kEnd = SIGUSR2;
constexpr int kInterrupted = 128 + SIGINT;

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, kEnd}) {
    sigaddset(&set, signal);
  }
  return set;
}

void Wait(const std::stop_source& source) {
  const sigset_t set = Signals();
  for (;;) {
    int signal = 0;
    Check(sigwait(&set, &signal) == 0, "the set of signals is valid");
    if (signal == kEnd) {
      return;
    }
    if (signal == SIGINT && source.stop_requested()) {
      ::_exit(kInterrupted);
    }
    source.request_stop();
  }
}

}  // namespace

void HoldSignals() {
  const sigset_t set = Signals();
  Check(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "the mask is valid");
}

SignalStop::SignalStop() {
  HoldSignals();
  thread_ = std::jthread([source = source_] { Wait(source); });
}

SignalStop::~SignalStop() { pthread_kill(thread_.native_handle(), kEnd); }

}  // namespace infeed
