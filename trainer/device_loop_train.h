#pragma once

#include <cstdint>

#include <torch/types.h>

#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_step.h"
#include "trainer/infeed.h"
#include "trainer/outfeed.h"

namespace infeed {

// Training steps one after the other, as eager LibTorch runs them: on the CPU,
// and on a GPU without graphs. Inside, nothing is read back. One thread at a
// time.
class TrainLoop {
 public:
  // The step must outlive it.
  TrainLoop(TrainStep& step, const torch::Device& device)
      : step_(step), device_(device) {}

  // DeviceLoop::Train().
  std::int64_t Run(std::int64_t first_step, std::int64_t steps,
                   const BatchUnpacker& unpacker, Infeed& infeed,
                   Outfeed& outfeed);

 private:
  TrainStep& step_;
  torch::Device device_;
};

}  // namespace infeed
