#pragma once

#include <cstdint>
#include <string>

#include "trainer/feed/outfeed.h"

// The line that the X10 tutorial prints after each epoch. Pure arithmetic.
namespace infeed {

// The result of a pass over data.
struct EpochScore {
  double loss = 0;  // the mean of the batches' means, all weighted equally
  std::int64_t correct = 0;
  std::int64_t images = 0;
};

// Sums up the steps of an epoch. Accuracy is that of the weights before each
// step's update.
class EpochTally {
 public:
  void Add(const StepResult& result);
  // Returns the score of the steps added so far, and starts again.
  [[nodiscard]] EpochScore Take();

 private:
  EpochScore score_;  // its loss is a sum
  std::int64_t batches_ = 0;
};

// "[Epoch 1] Training Loss: 0.503, Training Accuracy: 50308/60000 (83.8%), Test
// Loss: 0.135, Test Accuracy: 9578/10000 (95.8%) seconds per epoch: 14.1". The
// percentages are worked out in float, as X10 does: in double, 58710/60000
// would print another digit.
[[nodiscard]] std::string EpochLine(std::int64_t epoch, const EpochScore& train,
                                    const EpochScore& test, double seconds);

}  // namespace infeed
