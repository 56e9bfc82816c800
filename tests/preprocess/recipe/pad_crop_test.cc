#include "preprocess/recipe/pad_crop.h"

#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> Moved(int down, int right) {
  std::vector<std::uint32_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  MovePixels({.down = down, .right = right}, 3, pixels);
  return pixels;
}

TEST(MovePixelsTest, LeavesBlackBehind) {
  EXPECT_THAT(Moved(0, 0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(Moved(1, 0), ElementsAre(0, 0, 0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Moved(-2, 0), ElementsAre(7, 8, 9, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Moved(0, 2), ElementsAre(0, 0, 1, 0, 0, 4, 0, 0, 7));
  EXPECT_THAT(Moved(0, -1), ElementsAre(2, 3, 0, 5, 6, 0, 8, 9, 0));
  EXPECT_THAT(Moved(-1, 1), ElementsAre(0, 4, 5, 0, 7, 8, 0, 0, 0));
}

TEST(MovePixelsTest, LeavesNothingOfAnImageSmallerThanTheMove) {
  const std::vector<std::uint32_t> black(9);
  EXPECT_EQ(Moved(3, 0), black);
  EXPECT_EQ(Moved(-4, 0), black);
  EXPECT_EQ(Moved(0, 4), black);
  EXPECT_EQ(Moved(0, -3), black);
}

TEST(DrawMoveTest, DrawsEachMoveAsOften) {
  constexpr int kDraws = 81 * 200;
  std::array<std::array<int, 9>, 9> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    SampleRandom random({.position = i}, RandomStream::kCrop);
    const Move move = DrawMove(random);
    ++counts.at(move.down + 4).at(move.right + 4);
  }
  for (const auto& row : counts) {
    for (const int count : row) {
      EXPECT_NEAR(count, 200, 70);  // five standard deviations
    }
  }
}

}  // namespace
}  // namespace infeed
