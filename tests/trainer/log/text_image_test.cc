#include "trainer/log/text_image.h"

#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "preprocess/codecs/png_codec.h"

namespace infeed {
namespace text_image_test {

int DarkPixels(RgbImage image) {
  int count = 0;
  for (std::size_t i = 0; i < image.pixels().size(); i += 3) {
    count += image.pixels()[i] < 128 ? 1 : 0;
  }
  return count;
}

TEST(TextImageTest, DrawsALine) {
  RgbImage image = TextImage("Lp");
  EXPECT_EQ(image.height(), kTextHeight);
  EXPECT_GT(TextImage("LpLp").width(), image.width());
  EXPECT_GT(DarkPixels(std::move(image)), 10);
  EXPECT_EQ(DarkPixels(TextImage("")), 0);
}

TEST(TextImageTest, HasAMarkForACharacterThatItCannotDraw) {
  for (const char* const text : {"\xC3\xA9", "\n", "\xE2\x82\xAC"}) {
    EXPECT_EQ(EncodePng(TextImage(text).view()),
              EncodePng(TextImage("?").view()));
  }
}

}  // namespace text_image_test
}  // namespace infeed
