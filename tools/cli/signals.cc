#include "tools/cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

// Ends the waiting thread; the destructor sends it to that thread only.
constexpr int kEnd = SIGUSR2;
// A shell's exit code for a signal is this plus the signal's number.
constexpr int kEndedBy = 128;

constexpr std::chrono::seconds kSameRequest{1};

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, kEnd}) {
    sigaddset(&set, signal);
  }
  return set;
}

void SetMask(int how) {
  const sigset_t set = Signals();
  Check(pthread_sigmask(how, &set, nullptr) == 0, "the mask is valid");
}

// Prints the line in one call, as other threads may print too. On a terminal it
// begins on a new line, after a progress line and the "^C".
void Announce(const std::string& announcement) {
  if (announcement.empty()) {
    return;
  }
  const std::string line =
      (::isatty(STDERR_FILENO) != 0 ? "\n" : "") + announcement + "\n";
  // The process stops even if the line cannot be printed.
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, line.data(), line.size());
}

void Wait(const std::stop_source& source, const std::string& announcement,
          const SignalStop::Now& now) {
  const sigset_t set = Signals();
  SignalLadder ladder;
  for (;;) {
    int signal = 0;
    Check(sigwait(&set, &signal) == 0, "the set of signals is valid");
    if (signal == kEnd) {
      return;
    }
    switch (ladder.Take(signal, now())) {
      case SignalAnswer::kStop:
        Announce(announcement);
        source.request_stop();
        break;
      case SignalAnswer::kIgnore:
        break;
      case SignalAnswer::kEnd:
        Announce(fmt::format("{}: ended at once by a second signal ({})",
                             program_invocation_short_name,
                             ::strsignal(signal)));
        ::_exit(kEndedBy + signal);
    }
  }
}

}  // namespace

void HoldSignals() { SetMask(SIG_BLOCK); }

void ReleaseSignals() { SetMask(SIG_UNBLOCK); }

SignalAnswer SignalLadder::Take(int signal, Clock::time_point now) {
  if (signal == SIGUSR1) {
    const bool is_new = !warned_ && !first_;
    warned_ = true;
    return is_new ? SignalAnswer::kStop : SignalAnswer::kIgnore;
  }
  if (!first_) {
    first_ = now;
    return SignalAnswer::kStop;
  }
  return now - *first_ < kSameRequest ? SignalAnswer::kIgnore
                                      : SignalAnswer::kEnd;
}

SignalStop::SignalStop(const std::string& announcement, const Now& now) {
  HoldSignals();
  thread_ = std::jthread([source = source_, announcement, now] {
    Wait(source, announcement, now);
  });
}

SignalStop::~SignalStop() { pthread_kill(thread_.native_handle(), kEnd); }

}  // namespace infeed
