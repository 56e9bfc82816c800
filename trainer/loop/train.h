#pragma once

#include <cstdint>

#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/step.h"

namespace infeed {

// Training steps one after the other on the CPU, where a step's results are
// there as it returns. One thread at a time.
class TrainLoop {
 public:
  // The step must outlive it.
  explicit TrainLoop(TrainStep& step) : step_(step) {}

  // DeviceLoop::Train().
  std::int64_t Run(std::int64_t first_step, std::int64_t steps,
                   const BatchUnpacker& unpacker, Infeed& infeed,
                   Outfeed& outfeed);

 private:
  TrainStep& step_;
};

}  // namespace infeed
