#pragma once

#include <cstdint>
#include <string>

#include "trainer/feed/outfeed.h"

// The X10 tutorial's lines, one after each epoch. Pure arithmetic.
namespace infeed {

// What a pass over data came to.
struct EpochScore {
  double loss = 0;  // the mean of the batches' means, however small a batch is
  std::int64_t correct = 0;
  std::int64_t images = 0;
};

// Adds the steps of an epoch up: their accuracy is that of the weights before
// each step's update.
class EpochTally {
 public:
  void Add(const StepResult& result);
  // What was added so far; begins anew.
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
