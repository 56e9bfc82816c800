#include "preprocess/augment/color_ops.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/augment_images.h"

// golden_test.cc compares with TensorFlow; these are the other cases.
namespace infeed::color_ops_test {

using Pixels = std::vector<std::uint32_t>;

TEST(PosterizeTest, TakesNoBitsAsOneAndEightAsAll) {
  const Pixels pixels = AugmentImage("noise", 16);
  const auto posterized = [&](int bits) {
    Pixels changed = pixels;
    Posterize(bits, changed);
    return changed;
  };
  EXPECT_EQ(posterized(0), posterized(1));
  EXPECT_NE(posterized(1), posterized(2));
  EXPECT_EQ(posterized(8), pixels);
  EXPECT_EQ(posterized(12), pixels);
}

TEST(SolarizeTest, InvertsFromTheThresholdOn) {
  Pixels pixels = {PackPixel(99, 100, 255)};
  Solarize(100, pixels);
  EXPECT_EQ(pixels[0], PackPixel(99, 155, 0));
  const Pixels noise = AugmentImage("noise", 16);
  pixels = noise;
  Solarize(256, pixels);
  EXPECT_EQ(pixels, noise);
}

// With factor 0 only the constant is left.
std::uint32_t ContrastConstant(int side) {
  Pixels pixels = AugmentImage("noise", side);
  AdjustContrast(0, pixels);
  EXPECT_THAT(pixels, testing::Each(pixels[0]));
  return pixels[0];
}

TEST(AdjustContrastTest, BlendsFromTheNumberOfPixelsOver256) {
  EXPECT_EQ(ContrastConstant(224), PackPixel(196, 196, 196));
  EXPECT_EQ(ContrastConstant(160), PackPixel(100, 100, 100));
  EXPECT_EQ(ContrastConstant(300), PackPixel(255, 255, 255));
}

TEST(AdjustSharpnessTest, LeavesTheBorder) {
  for (const int side : {1, 2, 9}) {  // The first two are all border.
    const Pixels pixels = AugmentImage("noise", side);
    Pixels changed = pixels;
    std::vector<float> rows;
    AdjustSharpness(0.1F, {changed, side}, rows);
    for (int i = 0; i < side * side; ++i) {
      const int y = i / side;
      const int x = i % side;
      const bool is_border = y == 0 || x == 0 || y == side - 1 || x == side - 1;
      EXPECT_EQ(changed[static_cast<std::size_t>(i)] ==
                    pixels[static_cast<std::size_t>(i)],
                is_border)
          << i;
    }
  }
}

}  // namespace infeed::color_ops_test
