#pragma once

#include <cstdint>

#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_step.h"
#include "trainer/infeed.h"
#include "trainer/outfeed.h"

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
