#pragma once

#include <fmt/format.h>

#include "base/charts/progress.h"
#include "bench/engine/run.h"

namespace infeed {

// Shows a measurement's progress on stderr: a line at each round's end, and the
// progress line during a long round. One thread at a time.
class ProgressLines {
 public:
  explicit ProgressLines(const ThroughputOptions& options)
      : rounds_(options.rounds), seconds_(options.seconds) {
    line_.Delay();
  }

  void operator()(const RunProgress& progress) {
    if (progress.rate) {
      line_.Update(fmt::format("round {}/{}, {} threads: {:.1f} images/s",
                               progress.round, rounds_, progress.threads,
                               *progress.rate),
                   true);
      line_.Finish();
    } else if (line_.IsDue()) {
      line_.Update(fmt::format("round {}/{}: {:.0f} of {:.0f} s",
                               progress.round, rounds_, progress.seconds,
                               seconds_));
    }
  }

 private:
  int rounds_;
  double seconds_;
  ProgressLine line_;
};

}  // namespace infeed
