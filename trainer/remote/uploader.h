#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace infeed {

// Calls a function that uploads all new files, in a background thread: when
// woken, every period, and once more at the end. An error of the function is
// printed, once until a call succeeds, and the call is retried after growing
// waits; errors do not stop the run.
//
// Owns the thread. Thread-safe.
class Uploader {
 public:
  using Clock = std::chrono::steady_clock;
  using Round = std::function<void(const std::stop_token&)>;

  struct Options {
    Clock::duration period = std::chrono::minutes(1);
    // The wait after a failure; doubled after each further one, up to the
    // period.
    Clock::duration first_wait = std::chrono::seconds(1);
    std::function<void(const std::string&)> say = {};
  };

  Uploader(Round round, Options options);
  // Interrupts the current round.
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Call it when there are new files to upload.
  void Wake();

  // Waits until everything that existed at the call is uploaded; false after
  // at_most, or on a stop request. Tries at once, even after a failure.
  [[nodiscard]] bool Finish(Clock::duration at_most,
                            const std::stop_token& stop = {});

 private:
  void Run(const std::stop_token& stop);
  // Runs a round; returns whether it succeeded.
  bool Try(const std::stop_token& stop);

  Round round_;
  Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t requested_ = 0;  // calls of Wake() and Finish()
  std::uint64_t done_ = 0;       // calls that have been served
  bool hurries_ = false;         // Finish() skips the waits after failures
  bool failing_ = false;         // used by the thread only
  std::jthread thread_;          // last: it uses the others
};

}  // namespace infeed
