#include "bench/engine/paced_device.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::chrono::milliseconds;
using Time = PacedDevice::Clock::time_point;

constexpr Time kStart = Time(milliseconds(1000));

TEST(PacedDeviceTest, WaitsForNothingBeforeItsFirstBatch) {
  EXPECT_EQ(PacedDevice(10).input_wait(), 0);
}

TEST(PacedDeviceTest, IsBusyWithABatchForItsRate) {
  PacedDevice device(100);
  EXPECT_EQ(device.Use(kStart, kStart, 10), kStart + milliseconds(100));
  EXPECT_EQ(device.input_wait(), 0);
}

TEST(PacedDeviceTest, WaitsForALateBatch) {
  PacedDevice device(100);
  // 10 images take 100 ms, and come 300 ms late.
  EXPECT_EQ(device.Use(kStart, kStart + milliseconds(300), 10),
            kStart + milliseconds(400));
  EXPECT_DOUBLE_EQ(device.input_wait(), 0.75);
}

TEST(PacedDeviceTest, DoesNotTakeALateCallerForALateBatch) {
  PacedDevice device(100);
  Time asked = kStart;
  for (int i = 1; i <= 50; ++i) {
    const Time free = device.Use(asked, asked, 10);
    EXPECT_EQ(free, kStart + i * milliseconds(100));
    asked = free + milliseconds(7);  // It overslept.
  }
  EXPECT_EQ(device.input_wait(), 0);
}

TEST(PacedDeviceTest, WaitsTheShareThatTheInputLacks) {
  // An input of a fifth of the device's rate: a batch of 10 comes 500 ms after
  // the last, of which the device is busy for 100.
  PacedDevice device(100);
  Time came = kStart;
  for (int i = 0; i < 20; ++i) {
    const Time asked = i == 0 ? kStart : came + milliseconds(100);
    came = i == 0 ? kStart + milliseconds(400) : came + milliseconds(500);
    device.Use(asked, came, 10);
  }
  EXPECT_DOUBLE_EQ(device.input_wait(), 0.8);
}

}  // namespace
}  // namespace infeed
