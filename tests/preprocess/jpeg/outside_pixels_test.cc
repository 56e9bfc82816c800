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

TEST(OutsidePixelsTest, CountsWhatIsDecodedBesideAWindow) {
  const JpegSeekIndex runs = IndexOf(4, 2, 4);
  const JpegSeekIndex partial = IndexOf(4, 7, 2);
  const JpegSeekIndex other_mcus = IndexOf(8, 7, 8);
  const struct {
    const JpegSeekIndex* index;
    Window window;
    int outside;
    int denominator = 1;
  } rows[] = {// Without an index all in front.
              {nullptr, {0, 0, 60, 100}, 0},
              {nullptr, {0, 0, 20, 100}, 0},
              {nullptr, {20, 30, 10, 40}, 100 * 30 - 10 * 40},
              {nullptr, {10, 15, 5, 20}, 50 * 15 - 5 * 20, 2},
              // With one its rows of MCUs, from the nearest entry.
              {&kRowIndex, {16, 0, 16, 50}, 0},
              {&kRowIndex, {16, 40, 16, 10}, 16 * 40},
              {&kRowIndex, {20, 30, 10, 40}, 16 * 70 - 10 * 40},
              {&kRowIndex, {31, 0, 2, 100}, 32 * 100 - 2 * 100},
              {&kRowIndex, {10, 15, 5, 20}, 8 * 35 - 5 * 20, 2},
              {&runs, {16, 40, 16, 10}, 16 * 8},
              {&other_mcus, {4, 0, 8, 100}, 8 * 100},
              // All from the end of a partial one.
              {&partial, {16, 40, 16, 10}, 16 * 40},
              {&partial, {16, 40, 30, 10}, 16 * 50 + 14 * 100 - 30 * 10},
              {&partial, {40, 40, 10, 10}, 18 * 100 - 10 * 10}};
  for (const auto& row : rows) {
    EXPECT_EQ(OutsidePixels(kImage, row.window, row.denominator, row.index),
              row.outside)
        << row.window.y << " " << row.window.x << " " << row.window.height;
  }
}

}  // namespace
}  // namespace infeed
