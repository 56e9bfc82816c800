#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/program_end.h"

namespace infeed {

// Blocks SIGINT, SIGTERM and SIGUSR1, so that they wait for KeepSignals() in
// the program that takes this process over (exec). Requires: only one thread
// runs; may be called before main.
void HoldSignals();

// From here on a signal waits for a SignalStop, but no thread blocks it: a
// second one, more than a second later, ends the process with 128 + the signal,
// whatever hangs. May be called before main.
void KeepSignals();

// Blocks the signals in this thread and sends all to it, kept ones, too: it
// waits for them by sigwait() and the like, to its process's end.
void TakeSignals();

// Undoes the first two: the next signal, or a waiting one, ends the process.
// For work that needs no cleaning up.
void ReleaseSignals();

enum class SignalAnswer { kStop, kIgnore, kEnd };

// Decides what each signal does. The first SIGINT or SIGTERM requests a stop,
// and so does SIGUSR1, with which batch systems warn. Another SIGINT or SIGTERM
// within a second of the first counts as the same request (GNU timeout signals
// the process and its group); a later one ends the process.
class SignalLadder {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] SignalAnswer Take(int signal, Clock::time_point now);

 private:
  bool warned_ = false;  // by a SIGUSR1
  std::optional<Clock::time_point> first_;
};

// Turns SIGINT, SIGTERM and SIGUSR1 into a request to stop, by SignalLadder.
// When the ladder ends the process, the exit code is 128 + the signal. Other
// threads pass these signals on to this object's thread. One object at a time.
class SignalStop {
 public:
  using Now = std::function<SignalLadder::Clock::time_point()>;

  // announcement: the line printed on stderr when a stop is requested, about
  // what happens next; "" prints nothing. now: the clock, for tests.
  explicit SignalStop(const std::string& announcement,
                      const Now& now = SignalLadder::Clock::now);
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;  // Last: it uses the member above.
};

// The OUTCOME text for work whose files appear together at its end.
inline constexpr std::string_view kNothingIsLeft =
    "nothing half-written is left";

// Whether the user wants the work to end. Thread-safe.
class Interruption {
 public:
  explicit Interruption(std::stop_token token) : token_(std::move(token)) {}

  // Throws StoppedError when a signal came; unwinding removes all files that
  // are being written.
  void Check() const {
    if (token_.stop_requested()) {
      throw StoppedError();
    }
  }

 private:
  std::stop_token token_;
};

// Runs work that writes files. SIGINT, SIGTERM and SIGUSR1 (SignalStop) end the
// work at its next Check(), and its requests to object stores; the result is
// kStoppedBySignal, for the reason "stopped by a signal: OUTCOME; run the same
// command again". Requires: no other thread runs yet.
[[nodiscard]] ProgramEnd RunInterruptibly(
    std::string_view program, std::string_view outcome,
    const std::function<ProgramEnd(const Interruption&)>& work);

}  // namespace infeed
