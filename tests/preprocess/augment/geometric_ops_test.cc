#include "preprocess/augment/geometric_ops.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/pixels/image_size.h"
#include "tests/support/augment_images.h"

// golden_test.cc compares with TensorFlow; these are the other cases.
namespace infeed::geometric_ops_test {

using Pixels = std::vector<std::uint32_t>;
constexpr int kSide = 9;

std::uint32_t At(const Pixels& pixels, int y, int x) {
  return pixels[static_cast<std::size_t>(y * kSide + x)];
}

TEST(RotateTest, TurnsAboutTheCentre) {
  const Pixels pixels = AugmentImage("noise", kSide);
  MoveScratch scratch;
  Pixels quarter = pixels;
  Rotate(90, {quarter, kSide}, scratch);
  EXPECT_EQ(At(quarter, kSide - 1, 2), At(pixels, 2, 0));
  EXPECT_EQ(At(quarter, 0, 2), At(pixels, 2, kSide - 1));
  Pixels half = pixels;
  Rotate(180, {half, kSide}, scratch);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), pixels.rbegin()));
}

TEST(TranslateTest, ReadsAheadAndFillsWithGray) {
  const Pixels pixels = AugmentImage("noise", kSide);
  MoveScratch scratch;
  Pixels moved = pixels;
  TranslateX(2, {moved, kSide}, scratch);
  EXPECT_EQ(At(moved, 3, 4), At(pixels, 3, 6));
  EXPECT_EQ(At(moved, 3, kSide - 2), kAugmentFill);
  moved = pixels;
  TranslateY(-0.5F, {moved, kSide}, scratch);  // Row 0 reads -1, row 1 reads 1.
  EXPECT_EQ(At(moved, 0, 4), kAugmentFill);
  EXPECT_EQ(At(moved, 1, 4), At(pixels, 1, 4));
}

constexpr ImageSize kWide(6, 11);
constexpr ImageSize kTall(11, 6);

TEST(GeometricOpsTest, MovesOfImagesThatAreNotSquareAreAlikeBothWays) {
  MoveScratch scratch;
  const auto expect_alike = [&](auto along_x, auto along_y, float argument) {
    Pixels wide = AugmentImage("noise", kWide);
    Pixels tall = Transposed(wide, kWide);
    along_x(argument, {wide, kWide}, scratch);
    along_y(argument, {tall, kTall}, scratch);
    EXPECT_EQ(Transposed(wide, kWide), tall) << argument;
  };
  for (const float argument : {-3.0F, -0.3F, 0.4F, 2.0F, 8.0F}) {
    expect_alike(ShearX, ShearY, argument);
    expect_alike(ShearY, ShearX, argument);
    expect_alike(TranslateX, TranslateY, argument);
    expect_alike(TranslateY, TranslateX, argument);
  }
}

TEST(RotateTest, TurnsAnImageThatIsNotSquareAboutItsCentre) {
  const Pixels pixels = AugmentImage("noise", kWide);
  MoveScratch scratch;
  Pixels half = pixels;
  Rotate(180, {half, kWide}, scratch);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), pixels.rbegin()));
  Pixels third = pixels;
  Rotate(33, {third, kWide}, scratch);
  Pixels other = Transposed(pixels, kWide);
  Rotate(-33, {other, kTall}, scratch);
  EXPECT_EQ(Transposed(third, kWide), other);
}

TEST(CutoutTest, CutsAsFarAsAnImageThatIsNotSquareGoes) {
  Pixels pixels = AugmentImage("noise", kWide);
  Cutout(5, 10, 100, {pixels, kWide});
  EXPECT_EQ(pixels, Pixels(pixels.size(), kAugmentFill));
}

// The rows of a column that are cut out.
std::vector<int> RowsCut(int row, int reach) {
  Pixels pixels = AugmentImage("noise", kSide);
  Cutout(row, 4, reach, {pixels, kSide});
  std::vector<int> rows;
  for (int y = 0; y < kSide; ++y) {
    if (At(pixels, y, 4) == kAugmentFill) {
      rows.push_back(y);
    }
    EXPECT_NE(At(pixels, y, 4 + reach), kAugmentFill);
    EXPECT_NE(At(pixels, y, 4 - reach - 1), kAugmentFill);
  }
  return rows;
}

TEST(CutoutTest, CutsAsFarAsTheImageGoes) {
  EXPECT_EQ(RowsCut(4, 2), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(RowsCut(0, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(RowsCut(8, 2), (std::vector<int>{6, 7, 8}));
  EXPECT_EQ(RowsCut(4, 0), (std::vector<int>{}));
  Pixels pixels = AugmentImage("noise", kSide);
  Cutout(4, 4, 100, {pixels, kSide});
  EXPECT_EQ(pixels, Pixels(pixels.size(), kAugmentFill));
}

}  // namespace infeed::geometric_ops_test
