#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/program_end.h"

namespace infeed {

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
