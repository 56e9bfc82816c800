#pragma once

#include <cstdint>

namespace infeed {

struct LearningRateOptions {
  double base_learning_rate = 0.1;  // for a batch of 256; > 0
  int batch_size = 256;             // global
  std::int64_t train_images = 1;
  std::int64_t train_steps = 1;
};

// The reference driver's rate for one step (counted from 0): linear warm-up to
// base_learning_rate * batch_size / 256 over the first 5/90 of the epochs,
// then a tenth at 30/90, 60/90 and 80/90. Breakpoints are whole epochs, floors
// of floors, as there: a run of few epochs has none and trains at a thousandth
// of the peak. A pure function.
[[nodiscard]] double LearningRate(std::int64_t step,
                                  const LearningRateOptions& options);

}  // namespace infeed
