#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/choices.h"

namespace infeed {

// How the learning rate falls after the warm-up.
enum class RateSchedule {
  kReference,    // x 0.1 at 30, 60 and 80 of 90 epochs; with LARS a parabola
  kSteps,        // x 0.1 at 1/3 and 2/3 of train_steps
  kStep,         // x decay every decay_epochs
  kMultistep,    // x decay at each of decay_epochs
  kExponential,  // x decay per epoch, at each step
  kCosine,       // half a cosine from the peak to min_rate at train_steps
  kOneCycle,     // a cosine up to the peak and one down, over train_steps
  kLinear,       // a line from the peak to min_rate at train_steps
  kPlateau,      // x decay where evaluations do not improve: PlateauRate()
  kConstant,     // no decay
};
inline constexpr Choices<RateSchedule, 10> kRateSchedules = {
    {{"reference", RateSchedule::kReference},
     {"steps", RateSchedule::kSteps},
     {"step", RateSchedule::kStep},
     {"multistep", RateSchedule::kMultistep},
     {"exponential", RateSchedule::kExponential},
     {"cosine", RateSchedule::kCosine},
     {"onecycle", RateSchedule::kOneCycle},
     {"linear", RateSchedule::kLinear},
     {"plateau", RateSchedule::kPlateau},
     {"constant", RateSchedule::kConstant}}};

// The values of LearningRateOptions::scaled_by_batch.
inline constexpr Choices<bool, 2> kRateScalings = {
    {{"linear", true}, {"none", false}}};

struct LearningRateOptions {
  double base_learning_rate = 0.1;  // > 0; not used with LARS
  // Whether base_learning_rate is for a batch of 256 and is scaled to
  // batch_size.
  bool scaled_by_batch = true;
  RateSchedule schedule = RateSchedule::kReference;
  // Epochs in which the rate rises linearly, with kOneCycle along a cosine.
  // Negative: the schedule's own warm-up: 5/90 of the epochs for kReference,
  // the reference's LARS warm-up with LARS, 0.3 of the run for kOneCycle, else
  // none.
  double warmup_epochs = -1;
  // The first rate as a fraction of the peak; 0: 1/25 for kOneCycle, else 0.
  double warmup_factor = 0;
  // The lowest rate after the warm-up; 0: 1/250,000 of the peak for kOneCycle.
  double min_rate = 0;
  // Whether kStep, kMultistep, kExponential, kCosine and kLinear begin at the
  // end of the warm-up, as with torch's SequentialLR. false: at step 0, and the
  // warm-up replaces their first part, as in timm.
  bool after_warmup = true;
  double decay = 0.1;                     // > 0
  std::vector<double> decay_epochs = {};  // > 0, rising; one of them for kStep
  // kPlateau: the number of evaluations without improvement before the rate
  // falls, and the current rate; 0: the peak.
  int plateau_patience = 10;
  double plateau_rate = 0;
  bool lars = false;     // the reference's peak and warm-up for LARS
  double poly_rate = 0;  // the peak with LARS; 0: chosen by the batch size
  int batch_size = 256;  // global
  // An epoch is train_images / batch_size steps. For kReference they are the
  // data's, as in its driver; for the others those in the steps that the run
  // makes in an epoch.
  std::int64_t train_images = 1;
  std::int64_t train_steps = 1;
};

// The length of the run in epochs of whole batches; with a batch larger than
// the data, a step counts as an epoch.
[[nodiscard]] double Epochs(const LearningRateOptions& options);

// The first step after the warm-up, as the reference counts it.
[[nodiscard]] std::int64_t WarmupSteps(const LearningRateOptions& options);

// The learning rate of a step (counted from 0). A pure function.
//
// kReference is the reference driver's schedule: a linear warm-up to
// base_learning_rate * batch_size / 256 over the first 5/90 of the epochs, then
// a factor of 0.1 at 30/90, 60/90 and 80/90. As in the reference, breakpoints
// are rounded down to whole epochs, twice: in a run of few epochs all of them
// are 0, and it trains at a thousandth of the peak. With LARS, peak and warm-up
// depend on the batch size, and a polynomial of the second degree then falls to
// 1e-4.
//
// The other schedules are those of torch.optim.lr_scheduler, with one scheduler
// step per training step.
[[nodiscard]] double LearningRate(std::int64_t step,
                                  const LearningRateOptions& options);

// The rate of kPlateau after evaluations with these values, as torch's
// ReduceLROnPlateau; a value that is not finite is not better. is_lower_better:
// true for the loss.
[[nodiscard]] double PlateauRate(const LearningRateOptions& options,
                                 bool is_lower_better,
                                 std::span<const double> values);

// The peak that warm-up and schedule multiply.
[[nodiscard]] double PeakRate(const LearningRateOptions& options);

// A line for each problem of a run that is too short for its learning rate,
// with what to set instead: the run ends within an epoch, its warm-up is longer
// than the run, its rate never reaches a hundredth of the peak, or it uses the
// reference's schedule of 90 epochs, which has no warm-up in runs of less than
// 18.
[[nodiscard]] std::vector<std::string> ScheduleAdvice(
    const LearningRateOptions& options);

}  // namespace infeed
