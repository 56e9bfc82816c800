#include "trainer/model/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace infeed {
namespace {

// The least number of epochs of which 5/90, the reference's warm-up, is at
// least one epoch.
constexpr double kReferenceEpochs = 18;

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

// The epoch as a fraction of all images, not of whole batches.
double EpochOf(std::int64_t step, const LearningRateOptions& options) {
  return static_cast<double>(step) * options.batch_size /
         static_cast<double>(options.train_images);
}

// Whole epochs in which a run of `epochs` epochs reaches `ninetieths` / 90.
double Breakpoint(double epochs, double ninetieths) {
  return std::floor(epochs * ninetieths / 90.0);
}

double Peak(const LearningRateOptions& options) {
  if (options.lars) {
    return options.poly_rate > 0 ? options.poly_rate
                                 : LarsRateOf(options.batch_size).peak;
  }
  return options.scaled_by_batch
             ? options.base_learning_rate * options.batch_size / 256.0
             : options.base_learning_rate;
}

double WarmupEpochs(const LearningRateOptions& options) {
  if (options.warmup_epochs >= 0) {
    return options.warmup_epochs;
  }
  if (options.lars) {
    return LarsRateOf(options.batch_size).warmup_epochs;
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

// As in torchvision's recipe: a factor of 0.1 at each third of the run.
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
  return (Peak(options) - kLarsEndRate) * left * left + kLarsEndRate;
}

// The fraction of the steps from the warm-up's end to train_steps done, 0..1.
double Progress(std::int64_t step, const LearningRateOptions& options) {
  const std::int64_t warmup = WarmupSteps(options);
  const auto length = static_cast<double>(
      std::max<std::int64_t>(1, options.train_steps - warmup));
  return std::clamp(static_cast<double>(step - warmup) / length, 0.0, 1.0);
}

double AfterWarmup(std::int64_t step, const LearningRateOptions& options) {
  switch (options.schedule) {
    case RateSchedule::kReference:
      return options.lars ? LarsPolynomial(step, options)
                          : Peak(options) * Staircase(EpochOf(step, options),
                                                      Epochs(options));
    case RateSchedule::kSteps:
      return Peak(options) * Thirds(step, options.train_steps);
    case RateSchedule::kCosine:
      return Peak(options) / 2 *
             (1 + std::cos(std::numbers::pi * Progress(step, options)));
    case RateSchedule::kLinear:
      return Peak(options) * (1 - Progress(step, options));
    case RateSchedule::kConstant:
      break;
  }
  return Peak(options);
}

}  // namespace

double LearningRate(std::int64_t step, const LearningRateOptions& options) {
  const double epoch = EpochOf(step, options);
  const double warmup = WarmupEpochs(options);
  // The reference's LARS still uses the warm-up's rate at its last point.
  const bool rising = options.lars ? epoch <= warmup : epoch < warmup;
  return rising && warmup > 0 ? Peak(options) * epoch / warmup
                              : AfterWarmup(step, options);
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
  if (const std::int64_t warmup = WarmupSteps(options);
      warmup >= options.train_steps) {
    lines.push_back(fmt::format(
        "short run: the learning rate's warm-up takes {} steps of train_steps="
        "{}, so that it never reaches its peak; give a lower warmup_epochs",
        warmup, options.train_steps));
  }
  if (!options.lars && options.schedule == RateSchedule::kReference &&
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
