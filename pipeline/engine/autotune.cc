#include "pipeline/engine/autotune.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "base/seconds.h"
#include "pipeline/engine/input_pipeline.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// An option to tune, and its limits.
struct Knob {
  int InputOptions::*field;
  int least;
  int most;
};

// Hill climbing: goes from a setting to a better neighbouring one.
class Climb {
 public:
  Climb(const InputOptions& options, const MeasureRate& measure,
        const AutotuneOptions& tuning)
      : measure_(measure), tuning_(tuning) {
    best_.options = options;
    best_.images_per_second = measure_(options);
    best_.settings = 1;
  }

  void Turn(const Knob& knob) {
    if (!Go(knob, true)) {
      (void)Go(knob, false);
    }
  }

  [[nodiscard]] AutotuneResult result() const {
    AutotuneResult result = best_;
    result.seconds = SecondsSince(start_);
    return result;
  }

 private:
  // Doubles or halves an option as long as that is better; returns whether it
  // was better at least once.
  bool Go(const Knob& knob, bool up) {
    bool paid = false;
    while (SecondsSince(start_) < tuning_.seconds) {
      const int now = best_.options.*knob.field;
      InputOptions next = best_.options;
      next.*knob.field = std::clamp(up ? std::max(2 * now, 1) : now / 2,
                                    knob.least, knob.most);
      if (next.*knob.field == now || !Try(next, up)) {
        return paid;
      }
      paid = true;
    }
    return paid;
  }

  // Takes the setting if it is better: a larger one must gain at least
  // least_gain; a smaller one, which costs less, may lose less than that.
  bool Try(const InputOptions& options, bool larger) {
    ++best_.settings;
    double rate = 0;
    try {
      rate = measure_(options);
    } catch (const UsageError&) {  // It does not fit into memory_limit.
      return false;
    }
    const double gain = larger ? tuning_.least_gain : -tuning_.least_gain;
    if (rate <= best_.images_per_second * (1 + gain)) {
      return false;
    }
    best_.options = options;
    best_.images_per_second = rate;
    return true;
  }

  const Clock::time_point start_ = Clock::now();
  const MeasureRate& measure_;
  const AutotuneOptions& tuning_;
  AutotuneResult best_;
};

// Takes batches for some time, but at least two after the first; returns their
// images per second.
double RateOf(const RecordIndex& index, InputOptions options,
              const StreamPosition& start, double seconds) {
  options.bad_record_report.clear();
  options.trace = nullptr;
  options.use_cache = false;
  InputPipeline pipeline(index, options, start);
  (void)pipeline.Next();
  const std::int64_t before = pipeline.stats().images;
  const Clock::time_point begin = Clock::now();
  for (int batches = 0; batches < 2 || SecondsSince(begin) < seconds;
       ++batches) {
    if (pipeline.Next() == nullptr) {
      break;
    }
  }
  return static_cast<double>(pipeline.stats().images - before) /
         SecondsSince(begin);
}

}  // namespace

AutotuneResult Autotune(const InputOptions& options, const MeasureRate& measure,
                        const AutotuneOptions& tuning) {
  InputOptions first = options;
  InputOptions all_cores = options;
  all_cores.threads = 0;
  const int cores = CheckedInputOptions(all_cores).threads;
  if (first.threads == 0) {
    first.threads = cores;
  }
  const int most = tuning.max_threads > 0 ? tuning.max_threads : 2 * cores;
  const std::array<Knob, 3> knobs = {
      {{&InputOptions::threads, 1, std::max(most, first.threads)},
       {&InputOptions::batches_in_pool, tuning.least_batches,
        std::max(16, first.batches_in_pool)},
       {&InputOptions::prefetch_batches, 0,
        std::max(16, first.prefetch_batches)}}};
  Climb climb(first, measure, tuning);
  for (const Knob& knob : knobs) {
    climb.Turn(knob);
  }
  return climb.result();
}

AutotuneResult Autotune(const RecordIndex& index, const InputOptions& options,
                        const StreamPosition& start,
                        const AutotuneOptions& tuning) {
  return Autotune(
      options,
      [&](const InputOptions& tried) {
        return RateOf(index, tried, start, tuning.seconds_each);
      },
      tuning);
}

std::string AutotuneText(const AutotuneResult& result) {
  std::array<char, 200> text{};
  const int length = std::snprintf(
      text.data(), text.size(),
      "--threads %d --batches_in_pool %d --prefetch_batches %d: %.0f images/s, "
      "%d settings tried in %.1f s",
      result.options.threads, result.options.batches_in_pool,
      result.options.prefetch_batches, result.images_per_second,
      result.settings, result.seconds);
  return {text.data(),
          std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

}  // namespace infeed
