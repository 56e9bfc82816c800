#include "tools/inspect/thumbnail.h"

#include <cstdlib>
#include <tuple>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// A large red square between green stripes.
std::string Striped(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool red = std::abs(2 * x + 1 - width) < height &&
                       std::abs(2 * y + 1 - height) < width;
      image.row(y)[3 * x] = red ? 255 : 0;
      image.row(y)[3 * x + 1] = red ? 0 : 255;
      image.row(y)[3 * x + 2] = 0;
    }
  }
  return EncodePng(image.view());
}

TEST(ThumbnailTest, ThumbnailsShowTheCentredSquare) {
  for (const auto& [width, height] : {std::pair(400, 100), {100, 400}}) {
    const std::string jpeg = Thumbnail(AsBytes(Striped(width, height)), 32);
    JpegDecoder decoder;
    const JpegInfo info = decoder.ReadHeader(AsBytes(jpeg));
    EXPECT_EQ(info.width, 32);
    EXPECT_EQ(info.height, 32);
    RgbImage image;
    decoder.Decode(image);
    for (const int at : {1, 16, 30}) {
      EXPECT_GT(image.row(at)[3 * at], 200);
      EXPECT_LT(image.row(at)[3 * at + 1], 50);
    }
  }
}

TEST(ThumbnailTest, TakesSmallAndLargeJpegs) {
  for (const int side : {5, 63, 64, 65, 700}) {
    const std::string jpeg = TestJpeg({.width = side, .height = side});
    EXPECT_FALSE(Thumbnail(AsBytes(jpeg), 32).empty()) << side;
  }
}

TEST(ThumbnailTest, RefusesWhatIsNoImage) {
  EXPECT_NE(MessageOf<DataError>(
                [] { std::ignore = Thumbnail(AsBytes("no image"), 32); }),
            "");
}

}  // namespace
}  // namespace infeed
