#include "trainer/model/schedule_advice.h"

#include <fmt/format.h>

namespace infeed {
namespace {

// The least number of epochs of which 5/90, the reference's warm-up, is at
// least one epoch.
constexpr double kReferenceEpochs = 18;

}  // namespace

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
