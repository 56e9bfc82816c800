#include "preprocess/codecs/stored_png.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "preprocess/codecs/opencv_image.h"

namespace infeed {
namespace {

// OpenCV's reader checks the sums and the lengths.
void ExpectReadBack(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  std::iota(image.pixels().begin(), image.pixels().end(), std::uint8_t{7});
  const std::string png = StoredPng(image.view());
  RgbImage read;
  DecodeOtherImage(std::as_bytes(std::span(png)), std::int64_t{1} << 30, read);
  ASSERT_EQ(read.width(), width);
  ASSERT_EQ(read.height(), height);
  EXPECT_TRUE(std::equal(image.pixels().begin(), image.pixels().end(),
                         read.pixels().begin()));
}

TEST(StoredPngTest, IsReadBack) {
  ExpectReadBack(1, 1);
  ExpectReadBack(5, 3);
}

TEST(StoredPngTest, HasAsManyBlocksAsItTakes) { ExpectReadBack(300, 200); }

}  // namespace
}  // namespace infeed
