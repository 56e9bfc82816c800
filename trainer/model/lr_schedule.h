#pragma once

#include <cstdint>

namespace infeed {

// How the rate falls after its warm-up.
enum class RateSchedule {
  kReference,  // tenths at 30, 60 and 80 of 90 epochs; with LARS a parabola
  kSteps,      // tenths at 1/3 and 2/3 of train_steps
  kCosine,     // half a cosine from the peak to 0 at train_steps
  kLinear,     // a line from the peak to 0 at train_steps
  kConstant,   // it does not
};

struct LearningRateOptions {
  double base_learning_rate = 0.1;  // > 0; of kLars not used
  // Whether base_learning_rate is that of a batch of 256.
  bool scaled_by_batch = true;
  RateSchedule schedule = RateSchedule::kReference;
  // In which the rate rises along a line from 0. Negative: what the schedule
  // has itself: 5/90 of the epochs for kReference, those of LARS with it, else
  // none.
  double warmup_epochs = -1;
  bool lars = false;     // the reference's peak and warm-up for LARS
  double poly_rate = 0;  // the peak with LARS; 0: by the batch
  int batch_size = 256;  // global
  std::int64_t train_images = 1;
  std::int64_t train_steps = 1;
};

// The length of the run. Whole batches alone count; a batch larger than the
// data counts as one step an epoch.
[[nodiscard]] double Epochs(const LearningRateOptions& options);

// The first step after the warm-up, as the reference counts it.
[[nodiscard]] std::int64_t WarmupSteps(const LearningRateOptions& options);

// The rate of one step (counted from 0). A pure function.
//
// kReference is the reference driver's: a linear warm-up to
// base_learning_rate * batch_size / 256 over the first 5/90 of the epochs,
// then a tenth at 30/90, 60/90 and 80/90. Breakpoints are whole epochs, floors
// of floors, as there: a run of few epochs has none and trains at a thousandth
// of the peak. With LARS, a peak and a warm-up by the batch, then a polynomial
// of the second degree down to 1e-4.
[[nodiscard]] double LearningRate(std::int64_t step,
                                  const LearningRateOptions& options);

}  // namespace infeed
