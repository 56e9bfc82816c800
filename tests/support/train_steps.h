#pragma once

#include <cstdint>
#include <vector>

#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/loop/device_loop.h"

#include "gtest/gtest.h"

namespace infeed {

// The results of steps [first, first + steps) of a training.
inline std::vector<StepResult> TrainSteps(DeviceLoop& loop, std::int64_t first,
                                          std::int64_t steps, Infeed& infeed) {
  std::vector<StepResult> results;
  Outfeed outfeed([&](const StepResult& result) { results.push_back(result); });
  EXPECT_EQ(loop.Train(first, steps, infeed, outfeed), steps);
  outfeed.Drain();
  return results;
}

}  // namespace infeed
