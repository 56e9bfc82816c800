#pragma once

#include <stop_token>
#include <thread>

namespace infeed {

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
