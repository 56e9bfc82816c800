// A step's row of inputs and its results.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/device_array.h"
#include "trainer/kernels/kernels.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class StepKernelTest : public DeviceTest {};

TEST_F(StepKernelTest, TellsTheHostOfEachStep) {
  constexpr std::int64_t kSteps = 3;
  const DeviceArray<float> table({0.5F, 1, 0.25F, 2, 0.125F, 3});
  const DeviceArray<float> row(2);
  const DeviceArray<float> scalars({10, 0.75F, 32, 512});
  const DeviceArray<std::int64_t> skipped(std::vector<std::int64_t>{5});
  const DeviceArray<StepClock> clock({{.first = 7, .index = 0}});
  void* host = nullptr;
  ASSERT_EQ(cudaHostAlloc(&host, 4 * sizeof(StepRecord), cudaHostAllocMapped),
            cudaSuccess);
  auto* const ring = static_cast<StepRecord*>(host);
  std::fill_n(ring, 4, StepRecord{});
  void* on_device = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&on_device, host, 0), cudaSuccess);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    EXPECT_FALSE(IsWritten(ring[(7 + i) % 4], 8 + i));
    LaunchSelectRow(table.data(), 2, clock.data(), row.data(), nullptr);
    LaunchEndStep({.loss = scalars.data(),
                   .top_1 = scalars.data() + 1,
                   .rate = row.data(),
                   .images = scalars.data() + 2,
                   .loss_scale = i == 0 ? nullptr : scalars.data() + 3,
                   .skipped_steps = i == 0 ? nullptr : skipped.data()},
                  {.records = static_cast<StepRecord*>(on_device), .count = 4},
                  clock.data(), nullptr);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    StepRecord& record = ring[(7 + i) % 4];
    ASSERT_TRUE(IsWritten(record, 8 + i));
    EXPECT_EQ(record.loss, 10);
    EXPECT_EQ(record.top_1, 0.75F);
    EXPECT_EQ(record.images, 32);
    EXPECT_EQ(record.loss_scale, i == 0 ? 0 : 512);
    EXPECT_EQ(record.skipped_steps, i == 0 ? 0 : 5);
    EXPECT_EQ(record.rate, 0.5F / static_cast<float>(1 << i));
    EXPECT_EQ(row.Values()[1], static_cast<float>(i + 1));
  }
  EXPECT_EQ(clock.Values()[0].index, kSteps);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

}  // namespace
}  // namespace infeed
