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

class KeepGoingTest : public testing::Test {
 protected:
  void SetUp() override { LaunchSetEnd(end_.data(), 3, nullptr); }

  const DeviceArray<std::int64_t> end_{1};
};

TEST_F(KeepGoingTest, EndsTheLoopAtItsEnd) {
  const DeviceArray<std::int32_t> stop(std::vector<std::int32_t>{0});
  for (const std::int64_t index : {0, 2, 3, 4}) {
    EXPECT_EQ(ConditionOf(index, {.end = end_.data(), .stop = stop.data()}),
              index < 3 ? 1U : 0U)
        << index;
  }
}

TEST_F(KeepGoingTest, EndsTheLoopWhenItIsAskedTo) {
  const DeviceArray<std::int32_t> stop(std::vector<std::int32_t>{1});
  for (const std::int64_t index : {0, 2, 3}) {
    EXPECT_EQ(ConditionOf(index, {.end = end_.data(), .stop = stop.data()}), 0U)
        << index;
  }
}

}  // namespace
}  // namespace infeed
