#pragma once

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "bench/engine/run.h"

namespace infeed {

// Prints a measurement's progress on stderr: a line at each round's end, and
// one every few seconds of a long round. One thread at a time.
class ProgressLines {
 public:
  explicit ProgressLines(const ThroughputOptions& options)
      : rounds_(options.rounds), seconds_(options.seconds) {}

  void operator()(const RunProgress& progress) {
    if (progress.rate) {
      fmt::print(stderr, "round {}/{}, {} threads: {:.1f} images/s\n",
                 progress.round, rounds_, progress.threads, *progress.rate);
      last_ = Clock::now();
    } else if (Clock::now() - last_ > kEvery) {
      fmt::print(stderr, "round {}/{}: {:.0f} of {:.0f} s\n", progress.round,
                 rounds_, progress.seconds, seconds_);
      last_ = Clock::now();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEvery{5};

  int rounds_;
  double seconds_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace infeed
