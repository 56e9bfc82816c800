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

// Calls a function that uploads what there is to upload, in a thread of its
// own: when woken, every period, and once more at the end. What it throws is
// said, once until it works again, and tried again after waits that grow; it
// stops nobody.
//
// Owns the thread. Thread-safe.
class Uploader {
 public:
  using Clock = std::chrono::steady_clock;
  using Round = std::function<void(const std::stop_token&)>;

  struct Options {
    Clock::duration period = std::chrono::minutes(1);
    // After a failure; doubled by each further one up to the period.
    Clock::duration first_wait = std::chrono::seconds(1);
    std::function<void(const std::string&)> say = {};
  };

  Uploader(Round round, Options options);
  // Gives up the round at hand.
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // There is something to upload.
  void Wake();

  // Waits until all that there was at the call is uploaded; false when that
  // took longer, or stop asked for an end. Tries at once, also after a failure.
  [[nodiscard]] bool Finish(Clock::duration at_most,
                            const std::stop_token& stop = {});

 private:
  void Run(const std::stop_token& stop);
  // Returns whether it went well.
  bool Try(const std::stop_token& stop);

  Round round_;
  Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t asked_ = 0;  // calls of Wake() and Finish()
  std::uint64_t done_ = 0;   // as many of them are served
  bool hurries_ = false;     // Finish() waits for no waits
  bool failing_ = false;     // of the thread alone
  std::jthread thread_;      // last: it uses the others
};

}  // namespace infeed
