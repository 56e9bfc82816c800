#include "preprocess/jpeg/outside_pixels.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

constexpr JpegInfo kImage{.width = 100, .height = 60, .components = 3};
// 4:2:0: MCUs of 16x16 pixels.
const JpegSeekIndex kRowIndex{.mcus_per_row = 7, .mcu_rows = 4, .run = 7};

TEST(OutsidePixelsTest, CountsAllInFrontWithoutAnIndex) {
  const auto outside = [](const Window& window) {
    return OutsidePixels(kImage, window, 1, nullptr);
  };
  EXPECT_EQ(outside({0, 0, 60, 100}), 0);
  EXPECT_EQ(outside({0, 0, 20, 100}), 0);
  EXPECT_EQ(outside({20, 30, 10, 40}), 100 * 30 - 10 * 40);
}

TEST(OutsidePixelsTest, CountsItsRowsOfMcusWithAnIndex) {
  const auto outside = [](const Window& window) {
    return OutsidePixels(kImage, window, 1, &kRowIndex);
  };
  EXPECT_EQ(outside({16, 0, 16, 50}), 0);
  EXPECT_EQ(outside({16, 40, 16, 10}), 16 * 40);
  EXPECT_EQ(outside({20, 30, 10, 40}), 16 * 70 - 10 * 40);
  EXPECT_EQ(outside({31, 0, 2, 100}), 32 * 100 - 2 * 100);
}

TEST(OutsidePixelsTest, CountsFromTheNearestEntry) {
  JpegSeekIndex index = kRowIndex;
  index.run = 2;
  EXPECT_EQ(OutsidePixels(kImage, {16, 40, 16, 10}, 1, &index), 16 * 8);
}

TEST(OutsidePixelsTest, KnowsOtherMcus) {
  const JpegSeekIndex index{.mcus_per_row = 7, .mcu_rows = 8, .run = 7};
  EXPECT_EQ(OutsidePixels(kImage, {4, 0, 8, 100}, 1, &index), 8 * 100);
}

TEST(OutsidePixelsTest, CountsInTheSmallerImage) {
  EXPECT_EQ(OutsidePixels(kImage, {10, 15, 5, 20}, 2, nullptr),
            50 * 15 - 5 * 20);
  EXPECT_EQ(OutsidePixels(kImage, {10, 15, 5, 20}, 2, &kRowIndex),
            8 * 35 - 5 * 20);
}

}  // namespace
}  // namespace infeed
