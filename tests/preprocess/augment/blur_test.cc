#include "preprocess/augment/blur.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/augment_images.h"

namespace infeed {
namespace {

std::string Blurred(const char* image, int side, float sigma) {
  std::vector<std::uint32_t> pixels = AugmentImage(image, side);
  BlurScratch scratch;
  GaussianBlur(sigma, {.pixels = pixels, .size = side}, scratch);
  return RgbBytes(pixels);
}

// tests/data/README.augment.md says how they were made.
TEST(GaussianBlurTest, IsTorchvisionsWithinALevel) {
  const std::string golden =
      ReadWholeFile(INFEED_TEST_DATA "/blur.rgb", 1 << 20);
  std::string blurred;
  for (const float sigma : {0.1F, 0.6F, 1.3F, 2.0F}) {
    blurred += Blurred("noise", 32, sigma) + Blurred("soft", 32, sigma);
  }
  ExpectWithinALevel(blurred, golden, golden.size() / 50);
}

// Rows are blurred first, so that levels are rounded in another order.
TEST(GaussianBlurTest, BlursBothWaysAlike) {
  const ImageSize size(20, 7);  // The kernel is cut to the shorter side.
  std::vector<std::uint32_t> pixels = AugmentImage("noise", size);
  std::vector<std::uint32_t> turned = Transposed(pixels, size);
  BlurScratch scratch;
  GaussianBlur(2, {.pixels = pixels, .size = size}, scratch);
  GaussianBlur(2, {.pixels = turned, .size = {7, 20}}, scratch);
  const std::string blurred = RgbBytes(Transposed(pixels, size));
  const std::string other = RgbBytes(turned);
  ExpectWithinALevel(blurred, other, blurred.size());
}

TEST(GaussianBlurTest, KeepsOneColour) {
  EXPECT_EQ(Blurred("flat", 24, 2), RgbBytes(AugmentImage("flat", 24)));
  EXPECT_EQ(Blurred("flat", 3, 2), RgbBytes(AugmentImage("flat", 3)));
  EXPECT_EQ(Blurred("noise", 1, 2), RgbBytes(AugmentImage("noise", 1)));
}

}  // namespace
}  // namespace infeed
