#include "preprocess/jpeg/outside_pixels.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

constexpr JpegInfo kImage{.width = 100, .height = 60, .components = 3};

JpegSeekIndex IndexOf(int mcu_rows, int run, int covered_rows) {
  JpegSeekIndex index{.mcus_per_row = 7, .mcu_rows = mcu_rows, .run = run};
  index.entries.resize(index.entry_count(covered_rows));
  return index;
}

// 4:2:0: MCUs of 16x16 pixels.
const JpegSeekIndex kRowIndex = IndexOf(4, 7, 4);

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
  const JpegSeekIndex index = IndexOf(4, 2, 4);
  EXPECT_EQ(OutsidePixels(kImage, {16, 40, 16, 10}, 1, &index), 16 * 8);
}

TEST(OutsidePixelsTest, CountsAllFromTheEndOfAPartialIndex) {
  const JpegSeekIndex index = IndexOf(4, 7, 2);
  const auto outside = [&](const Window& window) {
    return OutsidePixels(kImage, window, 1, &index);
  };
  EXPECT_EQ(outside({16, 40, 16, 10}), 16 * 40);
  EXPECT_EQ(outside({16, 40, 30, 10}), 16 * 50 + 14 * 100 - 30 * 10);
  EXPECT_EQ(outside({40, 40, 10, 10}), 18 * 100 - 10 * 10);
}

TEST(OutsidePixelsTest, KnowsOtherMcus) {
  const JpegSeekIndex index = IndexOf(8, 7, 8);
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
