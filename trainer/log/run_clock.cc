#include "trainer/log/run_clock.h"

#include <utility>

#include "base/seconds.h"

namespace infeed {
namespace {

// Weight of the newest step in the rate: about the last ten steps count.
constexpr double kNewestWeight = 0.1;

}  // namespace

double RunTimes::images_per_second(int batch_size) const {
  const bool is_steady = steady_steps > 0;
  return Ratio(static_cast<double>((is_steady ? steady_steps : warm_up_steps) *
                                   batch_size),
               is_steady ? steady : warm_up);
}

RunClock::RunClock(const RunClockOptions& options, Now now)
    : options_(options),
      now_(std::move(now)),
      start_(now_()),
      mark_(start_),
      last_step_(start_) {}

double RunClock::SinceMark() {
  const Clock::time_point now = now_();
  return ToSeconds(now - std::exchange(mark_, now));
}

// Returns SinceMark(), and writes the span to the trace.
double RunClock::EndSpan(std::string_view name, std::int64_t step) {
  const Clock::time_point start = mark_;
  const double seconds = SinceMark();
  TraceSpan(options_.trace, name, start, mark_, {.step = step});
  return seconds;
}

void RunClock::BeginLoop(double waited) {
  (times_.loops == 0 ? times_.start_up : times_.between) += SinceMark();
  last_step_ = mark_;
  warm_up_seconds_ = 0;
  warm_up_steps_ = 0;
  waited_at_step_ = waited;
  waited_at_steady_ = waited;
}

void RunClock::WarmUp(double seconds, double waited) {
  warm_up_seconds_ += seconds;
  ++warm_up_steps_;
  waited_at_steady_ = waited;
  times_.warm_up += seconds;
  warmed_up_ = ++times_.warm_up_steps == options_.warm_up_steps;
}

// Averages times, not rates: steps that are reported together, because the
// outfeed's thread was late, would seem infinitely fast.
void RunClock::AverageTime(double seconds) {
  const double weight = is_steady_ ? kNewestWeight : 1;
  newest_seconds_ += weight * (seconds - newest_seconds_);
  is_steady_ = !in_warm_up_;
}

void RunClock::Step(double waited) {
  in_warm_up_ = !warmed_up_;
  const Clock::time_point now = now_();
  const double seconds = ToSeconds(now - std::exchange(last_step_, now));
  AverageTime(seconds);
  input_wait_ = Share(waited - std::exchange(waited_at_step_, waited), seconds);
  if (in_warm_up_) {
    WarmUp(seconds, waited);
  } else {
    steady_seconds_ += seconds;
    ++steady_steps_;
  }
}

void RunClock::EndLoop(const LoopEnd& end) {
  const double seconds = EndSpan("loop", end.step);
  if (++times_.loops == 2) {
    times_.device = {};  // Drops the first loop's values.
  }
  times_.device += end.device;
  if (!warmed_up_) {
    times_.warm_up += seconds - warm_up_seconds_;
    return;
  }
  times_.steady += seconds - warm_up_seconds_;
  times_.steady_steps += end.done - warm_up_steps_;
  times_.input_wait += end.waited - waited_at_steady_;
  times_.drain += end.drained;
}

RunTimes RunClock::times() const {
  RunTimes times = times_;
  times.total = ToSeconds(now_() - start_);
  return times;
}

}  // namespace infeed
