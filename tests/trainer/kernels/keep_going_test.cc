// Whether a loop on the device goes on: the kernel that a graph gets.
#include <cstdint>
#include <vector>

#include "tests/support/cuda_on_cpu.h"
#include "tests/support/device_array.h"
#include "trainer/kernels/resident.h"
#include "trainer/kernels/vectors.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The condition that the kernel sets.
unsigned ConditionOf(std::int64_t index, const LoopWords& of) {
  const DeviceArray<StepClock> clock({{.first = 9, .index = index}});
  const DeviceArray<unsigned> value(std::vector<unsigned>{7});
  LoopWords loop = of;
  loop.clock = clock.data();
  CUgraph_st graph;
  EXPECT_NE(
      AddKeepGoing(&graph, nullptr,
                   reinterpret_cast<cudaGraphConditionalHandle>(value.data()),
                   loop),
      nullptr);
  RunGraph(graph);
  CheckLaunch("KeepGoingKernel");
  return value.Values()[0];
}

TEST(KeepGoingTest, EndsTheLoopAtItsEndOrWhenItIsAskedTo) {
  const DeviceArray<std::int64_t> end(1);
  LaunchSetEnd(end.data(), 3, nullptr);
  for (const int asked : {0, 1}) {
    const DeviceArray<std::int32_t> stop(std::vector<std::int32_t>{asked});
    for (const std::int64_t index : {0, 2, 3, 4}) {
      EXPECT_EQ(ConditionOf(index, {.end = end.data(), .stop = stop.data()}),
                asked == 0 && index < 3 ? 1U : 0U)
          << index;
    }
  }
}

}  // namespace
}  // namespace infeed
