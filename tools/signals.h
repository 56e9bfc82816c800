#pragma once

#include <stop_token>
#include <thread>

namespace infeed {

// From now on SIGINT, SIGTERM and SIGUSR1 wait until somebody takes them: a
// SignalStop, here or in a process that this one starts. For the one thread
// that there is yet, also before main.
void HoldSignals();

// Turns SIGINT, SIGTERM and SIGUSR1 into a request to stop. A second SIGINT
// ends the process at once. Made in main before any other thread, which then
// all leave these signals to this object's thread.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;  // Last: it uses the member above.
};

}  // namespace infeed
