#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace infeed {

// From now on SIGINT, SIGTERM and SIGUSR1 wait until somebody takes them: a
// SignalStop, here or in a process that this one starts. For the one thread
// that there is yet, also before main.
void HoldSignals();

// Undoes it: the next signal, and one that has waited, ends the process. For
// work that leaves nothing to tidy up.
void ReleaseSignals();

enum class SignalAnswer { kStop, kIgnore, kEnd };

// What is done about each signal. The first SIGINT or SIGTERM asks for a stop,
// and so does SIGUSR1, by which batch systems warn. Another SIGINT or SIGTERM
// within a second of the first is the same request once more (GNU timeout
// signals the process and its group); a later one ends the process.
class SignalLadder {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] SignalAnswer Take(int signal, Clock::time_point now);

 private:
  bool warned_ = false;  // by a SIGUSR1
  std::optional<Clock::time_point> first_;
};

// Turns SIGINT, SIGTERM and SIGUSR1 into a request to stop, by SignalLadder.
// Where that ends the process, the exit code is 128 + the signal. Made in main
// before any other thread, which then all leave these signals to this object's
// thread.
class SignalStop {
 public:
  using Now = std::function<SignalLadder::Clock::time_point()>;

  // announcement: a line on stderr at the moment of a request to stop, which
  // says what happens now; "" prints nothing. now is the time, for tests.
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

}  // namespace infeed
