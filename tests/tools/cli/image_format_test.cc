#include "tools/cli/image_format.h"

#include <string>

#include "tests/support/bytes.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::string NamesOf(std::string_view bytes) {
  const ImageFormat format = DetectImageFormat(AsBytes(bytes));
  return std::string(FormatName(format)) + " " +
         std::string(FileExtension(format));
}

TEST(ImageFormatTest, TellsByContent) {
  using std::string_literals::operator""s;
  EXPECT_EQ(NamesOf(TestJpeg()), "JPEG jpg");
  EXPECT_EQ(NamesOf("\x89PNG\r\n\x1A\n..."), "PNG png");
  EXPECT_EQ(NamesOf("BM...."), "BMP bmp");
  EXPECT_EQ(NamesOf("RIFF....WEBP"), "WebP webp");
  EXPECT_EQ(NamesOf("II*\0...."s), "TIFF tif");
  EXPECT_EQ(NamesOf("MM\0*...."s), "TIFF tif");
  EXPECT_EQ(NamesOf(""), "other bin");
  EXPECT_EQ(NamesOf("RIFF"), "other bin");
}

}  // namespace
}  // namespace infeed
