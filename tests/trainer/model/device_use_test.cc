#include "trainer/model/device_use.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

constexpr DeviceUse kUse = {.loop_seconds = 2,
                            .busy_seconds = 1.5,
                            .host_syncs = 3,
                            .loops = 2,
                            .operations = 8e12,
                            .bytes = 5e9};

TEST(DeviceUseTest, KnowsItsRates) {
  EXPECT_DOUBLE_EQ(kUse.busy_share(), 0.75);
  EXPECT_DOUBLE_EQ(kUse.tflops(), 4);
  EXPECT_DOUBLE_EQ(kUse.gb_per_second(), 2.5);
  EXPECT_DOUBLE_EQ(kUse.syncs_per_loop(), 1.5);
}

TEST(DeviceUseTest, HasNoneOfNothing) {
  EXPECT_EQ(DeviceUse().busy_share(), 0);
  EXPECT_EQ(DeviceUse().tflops(), 0);
  EXPECT_EQ(DeviceUse().syncs_per_loop(), 0);
}

TEST(DeviceUseTest, AddsUp) {
  DeviceUse sum = kUse;
  sum += kUse;
  EXPECT_DOUBLE_EQ(sum.busy_share(), kUse.busy_share());
  EXPECT_DOUBLE_EQ(sum.tflops(), kUse.tflops());
  EXPECT_EQ(sum.loops, 4);
  EXPECT_EQ(sum.host_syncs, 6);
}

TEST(DeviceUseTextTest, SaysWhatIsKnown) {
  EXPECT_EQ(DeviceUseText(kUse, {.tflops = 8, .gb_per_second = 10}),
            "the device computed 75.0 % of the time in loops; 4 TFLOP/s, 50 % "
            "of the 8 measured; at least 2.5 GB/s, 25 % of the 10 measured; "
            "the host waited for it 1.5 times a loop");
  DeviceUse on_cpu = kUse;
  on_cpu.host_syncs = 0;
  EXPECT_EQ(DeviceUseText(on_cpu, {}),
            "the device computed 75.0 % of the time in loops; 4 TFLOP/s; at "
            "least 2.5 GB/s");
}

}  // namespace
}  // namespace infeed
