#include "trainer/model/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace infeed {
namespace {

// The smallest number of epochs for which 5/90, the reference's warm-up, is at
// least one epoch.
constexpr double kReferenceEpochs = 18;

// torch's OneCycleLR: pct_start, 1 / div_factor, 1 / final_div_factor.
constexpr double kOneCycleRise = 0.3;
constexpr double kOneCycleStart = 1.0 / 25;
constexpr double kOneCycleEnd = 1e-4;  // of its start

}  // namespace

double Epochs(const LearningRateOptions& options) {
  const std::int64_t whole_batches =
      std::max<std::int64_t>(1, options.train_images / options.batch_size);
  return static_cast<double>(options.train_steps) /
         static_cast<double>(whole_batches);
}

namespace {

// Where the reference's polynomial ends: tf.train.polynomial_decay's default.
constexpr double kLarsEndRate = 1e-4;

struct LarsRate {
  int below_batch;
  double peak;
  double warmup_epochs;
};

// The reference's values for a global batch size.
LarsRate LarsRateOf(int batch_size) {
  for (const LarsRate& rate :
       {LarsRate{16384, 10.0, 5}, {32768, 25.0, 5}, {65536, 32.0, 14}}) {
    if (batch_size < rate.below_batch) {
      return rate;
    }
  }
  return {0, 35.6, 40};
}

// Real division, also where kReference's images do not fill batches.
double EpochOf(std::int64_t step, const LearningRateOptions& options) {
  return static_cast<double>(step) * options.batch_size /
         static_cast<double>(options.train_images);
}

// Whole epochs in which a run of `epochs` epochs reaches `ninetieths` / 90.
double Breakpoint(double epochs, double ninetieths) {
  return std::floor(epochs * ninetieths / 90.0);
}

}  // namespace

double PeakRate(const LearningRateOptions& options) {
  if (options.lars) {
    return options.poly_rate > 0 ? options.poly_rate
                                 : LarsRateOf(options.batch_size).peak;
  }
  return options.scaled_by_batch
             ? options.base_learning_rate * options.batch_size / 256.0
             : options.base_learning_rate;
}

namespace {

// Epochs in which the rate rises.
double WarmupEpochs(const LearningRateOptions& options) {
  if (options.warmup_epochs >= 0) {
    return options.warmup_epochs;
  }
  if (options.lars) {
    return LarsRateOf(options.batch_size).warmup_epochs;
  }
  if (options.schedule == RateSchedule::kOneCycle) {
    return kOneCycleRise * EpochOf(options.train_steps, options);
  }
  return options.schedule == RateSchedule::kReference
             ? Breakpoint(Epochs(options), 5)
             : 0;
}

}  // namespace

std::int64_t WarmupSteps(const LearningRateOptions& options) {
  return static_cast<std::int64_t>(WarmupEpochs(options) *
                                   static_cast<double>(options.train_images) /
                                   options.batch_size);
}

namespace {

// The factor by which the reference multiplies the peak after its warm-up.
double Staircase(double epoch, double epochs) {
  double factor = 1;
  for (const double ninetieths : {30, 60, 80}) {
    factor = epoch < Breakpoint(epochs, ninetieths) ? factor : factor * 0.1;
  }
  return factor;
}

// A factor of 0.1 at each third of the run, as in torchvision's recipe.
double Thirds(std::int64_t step, std::int64_t train_steps) {
  double factor = 1;
  for (const std::int64_t third : {1, 2}) {
    factor = 3 * step < third * train_steps ? factor : factor * 0.1;
  }
  return factor;
}

double LarsPolynomial(std::int64_t step, const LearningRateOptions& options) {
  const std::int64_t warmup = WarmupSteps(options);
  const auto last = static_cast<double>(
      std::max<std::int64_t>(1, options.train_steps - warmup + 1));
  const auto at = static_cast<double>(std::max<std::int64_t>(1, step - warmup));
  const double left = 1 - std::min(at, last) / last;
  return (PeakRate(options) - kLarsEndRate) * left * left + kLarsEndRate;
}

// A step and train_steps, both counted from the schedule's beginning.
struct Place {
  double step;
  double length;
};

Place PlaceOf(std::int64_t step, const LearningRateOptions& options) {
  const std::int64_t begin = options.after_warmup ? WarmupSteps(options) : 0;
  return {.step = static_cast<double>(step - begin),
          .length = static_cast<double>(
              std::max<std::int64_t>(1, options.train_steps - begin))};
}

double Progress(std::int64_t step, const LearningRateOptions& options) {
  const Place place = PlaceOf(step, options);
  return std::clamp(place.step / place.length, 0.0, 1.0);
}

double EpochOfSchedule(std::int64_t step, const LearningRateOptions& options) {
  const double epoch = EpochOf(step, options);
  return options.after_warmup ? epoch - WarmupEpochs(options) : epoch;
}

double CountDecays(double epoch, const LearningRateOptions& options) {
  const std::vector<double>& epochs = options.decay_epochs;
  if (options.schedule == RateSchedule::kMultistep) {
    return static_cast<double>(
        std::ranges::count_if(epochs, [&](double at) { return at <= epoch; }));
  }
  return options.schedule == RateSchedule::kStep ? std::floor(epoch / epochs[0])
                                                 : epoch;
}

// Half a cosine from `from` at progress 0 to `to` at 1.
double Cosine(double from, double to, double progress) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * progress));
}

double StartRate(const LearningRateOptions& options) {
  const bool is_own =
      options.warmup_factor == 0 && options.schedule == RateSchedule::kOneCycle;
  return PeakRate(options) * (is_own ? kOneCycleStart : options.warmup_factor);
}

// torch's OneCycleLR: the last step has the lowest rate, and the last step of
// the rise has the peak.
double OneCycle(std::int64_t step, const LearningRateOptions& options) {
  const double peak = PeakRate(options);
  const double start = StartRate(options);
  const double end =
      options.min_rate > 0 ? options.min_rate : start * kOneCycleEnd;
  const auto at = static_cast<double>(step);
  const double top = std::max(
      0.0, WarmupEpochs(options) * static_cast<double>(options.train_images) /
                   options.batch_size -
               1);
  const double last = static_cast<double>(options.train_steps) - 1;
  if (at < top) {
    return Cosine(start, peak, at / top);
  }
  return Cosine(peak, end,
                std::min(1.0, (at - top) / std::max(1.0, last - top)));
}

double AfterWarmup(std::int64_t step, const LearningRateOptions& options) {
  const double peak = PeakRate(options);
  switch (options.schedule) {
    case RateSchedule::kReference:
      return options.lars
                 ? LarsPolynomial(step, options)
                 : peak * Staircase(EpochOf(step, options), Epochs(options));
    case RateSchedule::kSteps:
      return peak * Thirds(step, options.train_steps);
    case RateSchedule::kStep:
    case RateSchedule::kMultistep:
    case RateSchedule::kExponential:
      return peak *
             std::pow(options.decay,
                      CountDecays(EpochOfSchedule(step, options), options));
    case RateSchedule::kCosine:
      return Cosine(peak, options.min_rate, Progress(step, options));
    case RateSchedule::kLinear:
      return options.min_rate +
             (peak - options.min_rate) * (1 - Progress(step, options));
    case RateSchedule::kPlateau:
      return options.plateau_rate > 0 ? options.plateau_rate : peak;
    case RateSchedule::kOneCycle:
    case RateSchedule::kConstant:
      break;
  }
  return peak;
}

// The highest rate of the run, among steps spread over it and the warm-up's
// end.
double HighestRate(const LearningRateOptions& options) {
  constexpr std::int64_t kSteps = 1000;
  double highest = LearningRate(
      std::min(WarmupSteps(options), options.train_steps - 1), options);
  for (std::int64_t i = 0; i <= kSteps; ++i) {
    const auto step = static_cast<std::int64_t>(
        static_cast<double>(options.train_steps - 1) * i / kSteps);
    highest = std::max(highest, LearningRate(step, options));
  }
  return highest;
}

}  // namespace

double LearningRate(std::int64_t step, const LearningRateOptions& options) {
  if (options.schedule == RateSchedule::kOneCycle) {
    return OneCycle(step, options);
  }
  const double epoch = EpochOf(step, options);
  const double warmup = WarmupEpochs(options);
  // The reference's LARS still uses the warm-up's rate at its last point.
  const bool rising = options.lars ? epoch <= warmup : epoch < warmup;
  if (rising && warmup > 0) {
    const double start = StartRate(options);
    return start + (PeakRate(options) - start) * epoch / warmup;
  }
  return std::max(options.min_rate, AfterWarmup(step, options));
}

double PlateauRate(const LearningRateOptions& options, bool is_lower_better,
                   std::span<const double> values) {
  constexpr double kLeastChange = 1e-8;
  constexpr double kThreshold = 1e-4;  // the least improvement, a fraction
  const double sign = is_lower_better ? -1 : 1;
  double rate = PeakRate(options);
  double best = -sign * std::numeric_limits<double>::infinity();
  int bad = 0;
  for (const double value : values) {
    const bool is_better = std::isfinite(value) &&
                           sign * value > sign * best * (1 + sign * kThreshold);
    best = is_better ? value : best;
    bad = is_better ? 0 : bad + 1;
    if (bad > options.plateau_patience) {
      const double lower = std::max(rate * options.decay, options.min_rate);
      rate = rate - lower > kLeastChange ? lower : rate;
      bad = 0;
    }
  }
  return rate;
}

std::vector<std::string> ScheduleAdvice(const LearningRateOptions& options) {
  const double epochs = Epochs(options);
  std::vector<std::string> lines;
  if (epochs < 1) {
    lines.push_back(
        fmt::format("short run: train_steps={} is {:.2g} of an epoch; "
                    "train_epochs=1 trains on all images once",
                    options.train_steps, epochs));
  }
  const double highest = HighestRate(options);
  if (const std::int64_t warmup = WarmupSteps(options);
      warmup >= options.train_steps) {
    lines.push_back(fmt::format(
        "short run: the learning rate's warm-up takes {} steps of train_steps="
        "{}, so that it never reaches its peak; give a lower warmup_epochs",
        warmup, options.train_steps));
  } else if (highest < PeakRate(options) / 100) {
    lines.push_back(fmt::format(
        "short run: the learning rate is at most {:.2g}, and never reaches a "
        "hundredth of its peak {:.2g}; give --preset finetune, or "
        "learning_rate_schedule=cosine,warmup_epochs=1",
        highest, PeakRate(options)));
  } else if (!options.lars && options.schedule == RateSchedule::kReference &&
             epochs < kReferenceEpochs) {
    lines.push_back(fmt::format(
        "short run: the reference's learning rate is made for 90 epochs, and "
        "in {:.3g} it has no warm-up and falls too early; give --preset "
        "finetune, or learning_rate_schedule=cosine,warmup_epochs=1",
        epochs));
  }
  return lines;
}

}  // namespace infeed
