#include "tools/cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"

namespace infeed {
namespace {

// Ends the waiting thread; the destructor sends it to that thread only.
constexpr int kEnd = SIGUSR2;
// A shell's exit code for a signal is this plus the signal's number.
constexpr int kEndedBy = 128;

constexpr std::chrono::seconds kSameRequest{1};

constexpr int kRequests[] = {SIGINT, SIGTERM, SIGUSR1};

// The handler uses these.
std::atomic<bool> has_waiter = false;
std::atomic<pthread_t> waiter;
std::atomic<unsigned> kept = 0;             // a bit for each kept signal
std::atomic<std::int64_t> first_kept = -1;  // the second of the first request

unsigned BitOf(int signal) { return 1U << static_cast<unsigned>(signal); }

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kRequests) {
    sigaddset(&set, signal);
  }
  sigaddset(&set, kEnd);
  return set;
}

// Gives kept signals to the waiting thread.
void PassOn() {
  const unsigned signals = kept.exchange(0);
  for (const int signal : kRequests) {
    if ((signals & BitOf(signal)) != 0) {
      pthread_kill(waiter, signal);
    }
  }
}

// Ends the process at a second request, if no SignalStop will.
void EndAtSecond(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  std::int64_t first = -1;
  if (!first_kept.compare_exchange_strong(first, now.tv_sec) &&
      now.tv_sec - first > kSameRequest.count()) {
    ::_exit(kEndedBy + signal);
  }
}

// Runs in any thread that does not block the signal.
void OnSignal(int signal) {
  if (!has_waiter && signal != SIGUSR1) {
    EndAtSecond(signal);
  }
  kept |= BitOf(signal);
  if (has_waiter) {
    PassOn();
  }
}

void Handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kRequests) {
    Check(sigaction(signal, &action, nullptr) == 0, "the signal is valid");
  }
}

// Sends each signal, and those that are kept, to the thread.
void PassTo(pthread_t thread) {
  waiter = thread;
  has_waiter = true;
  Handle(OnSignal);
  PassOn();
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

void Wait(std::stop_source& source, const std::string& announcement,
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

void KeepSignals() {
  Handle(OnSignal);
  SetMask(SIG_UNBLOCK);
}

void TakeSignals() {
  HoldSignals();
  PassTo(pthread_self());
}

void ReleaseSignals() {
  Handle(SIG_DFL);
  SetMask(SIG_UNBLOCK);
  for (const int signal : kRequests) {
    if ((kept & BitOf(signal)) != 0) {
      ::raise(signal);
    }
  }
}

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
  HoldSignals();  // in this thread, and in those that it starts
  thread_ = std::jthread([source = source_, announcement, now]() mutable {
    Wait(source, announcement, now);
  });
  PassTo(thread_.native_handle());
}

SignalStop::~SignalStop() {
  has_waiter = false;
  pthread_kill(thread_.native_handle(), kEnd);
}

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
