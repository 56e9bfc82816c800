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

TEST(KeepGoingTest, EndsTheLoopAtItsEnd) {
  const DeviceArray<std::int64_t> end(1);
  LaunchSetEnd(end.data(), 3, nullptr);
  for (const std::int64_t index : {0, 2, 3, 4}) {
    const DeviceArray<StepClock> clock({{.first = 9, .index = index}});
    const DeviceArray<unsigned> value(1);
    CUgraph_st body;
    AddKeepGoing(&body, nullptr,
                 reinterpret_cast<cudaGraphConditionalHandle>(value.data()),
                 clock.data(), end.data());
    RunGraph(body);
    CheckLaunch("KeepGoingKernel");
    EXPECT_EQ(value.Values()[0], index < 3 ? 1U : 0U) << index;
  }
}

}  // namespace
}  // namespace infeed
