#include "records/bytes/image_header.h"

#include <string>
#include <string_view>

#include "tests/support/bytes.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed::image_header_test {

using namespace std::string_literals;

std::string_view FormatOf(std::string_view bytes) {
  return FindImageFormat(AsBytes(bytes));
}

TEST(ImageHeaderTest, DecodesEveryFormat) {
  EXPECT_EQ(FormatOf(TestJpeg()), "JPEG");
  EXPECT_EQ(FormatOf("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\4\0\0\0\5\10\2\0\0"s),
            "PNG");
  EXPECT_EQ(FormatOf("RIFF\x40\0\0\0WEBPVP8 \x30\0\0\0...."s), "WebP");
  EXPECT_EQ(FormatOf("BM\x40\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\4\0\0\0\4\0\0\0"
                     "\1\0\x18\0"s),
            "BMP");
  EXPECT_EQ(FormatOf("II*\0\10\0\0\0"s), "TIFF");
  EXPECT_EQ(FormatOf("MM\0*\0\0\0\10"s), "TIFF");
  EXPECT_EQ(FormatOf("\0\0\0\x0CjP  \r\n\x87\n...."s), "JPEG 2000");
  EXPECT_EQ(FormatOf("P6\n# a comment\n3 2\n255\n......"), "PNM");
  EXPECT_EQ(FormatOf("P4 8 1 x"), "PNM");
}

TEST(ImageHeaderTest, IsNoneOfATextThatBeginsLikeAnImage) {
  for (const std::string_view text :
       {"BMW X5, black, with a trailer, in a car park", "RIFFRAFF", "II*",
        "P5 is a bus line to the airport", "P6", "PNG", "", "\xFF\xD8\xFF",
        "\xFF\xD8\xFF\xE0", "\x89PNG\r\n", "MM"}) {
    EXPECT_EQ(FormatOf(text), "") << text;
  }
}

// A JPEG needs a frame header with a size, wherever it is cut.
TEST(ImageHeaderTest, EndsWithinTheBytes) {
  const std::string jpeg = TestJpeg();
  bool is_found = false;
  for (std::size_t bytes = 0; bytes <= jpeg.size(); ++bytes) {
    const bool found =
        !FormatOf(std::string_view(jpeg).substr(0, bytes)).empty();
    EXPECT_TRUE(found || !is_found) << bytes;
    is_found = found;
  }
  EXPECT_TRUE(is_found);
}

}  // namespace infeed::image_header_test
