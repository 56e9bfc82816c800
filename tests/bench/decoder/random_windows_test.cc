#include "bench/decoder/random_windows.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(RandomWindowsTest, LieInside) {
  for (const int height : {1, 2, 17, 300}) {
    for (const int width : {1, 3, 40, 500}) {
      const std::vector<Window> windows = RandomWindows(height, width, 300, {});
      EXPECT_EQ(windows.size(), 300U);
      EXPECT_EQ(windows.front(), (Window{0, 0, height, width}));
      for (const Window& w : windows) {
        EXPECT_TRUE(w.y >= 0 && w.x >= 0 && w.height > 0 && w.width > 0 &&
                    w.y + w.height <= height && w.x + w.width <= width);
      }
    }
  }
}

TEST(RandomWindowsTest, AreLargeSmallAndAtAllEdges) {
  const std::vector<Window> windows = RandomWindows(300, 500, 200, {});
  const auto some = [&](auto is) { return std::ranges::any_of(windows, is); };
  EXPECT_TRUE(some([](const Window& w) { return w.x == 0 && w.width < 400; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x == 1; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x + w.width == 499; }));
  EXPECT_TRUE(some([](const Window& w) { return w.y + w.height == 300; }));
  EXPECT_TRUE(some([](const Window& w) { return w.width < 8; }));
  EXPECT_TRUE(some([](const Window& w) { return w.x > 8 && w.width > 250; }));
}

TEST(RandomWindowsTest, DependOnTheKey) {
  EXPECT_EQ(RandomWindows(99, 99, 50, {.position = 1}),
            RandomWindows(99, 99, 50, {.position = 1}));
  EXPECT_NE(RandomWindows(99, 99, 50, {.position = 1}),
            RandomWindows(99, 99, 50, {.position = 2}));
}

}  // namespace
}  // namespace infeed
