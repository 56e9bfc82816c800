#include "preprocess/codecs/codec_plugin.h"

#include <string>
#include <string_view>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::codec_plugin_test {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 40;
constexpr std::string_view kUnknown =
    "not an image of a known format (JPEG, PNG, BMP, WebP, TIFF, JPEG 2000, "
    "PNM)";

std::string Encoded(const cv::Mat& image, const char* extension,
                    const std::vector<int>& parameters = {}) {
  std::vector<std::uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(extension, image, bytes, parameters));
  return {bytes.begin(), bytes.end()};
}

cv::Mat Photograph(int width, int height, int type = CV_8UC3) {
  cv::Mat image(height, width, type);
  cv::theRNG().state = 1;
  cv::randu(image, 0, CV_MAT_DEPTH(type) == CV_16U ? 65536 : 256);
  return image;
}

std::string ErrorOf(std::span<const std::byte> bytes,
                    std::int64_t max_pixels = kNoLimit) {
  return MessageOf<DataError>([&] {
    RgbImage image;
    DecodeOtherImage(bytes, max_pixels, image);
  });
}

// Overwrites bytes of a text.
std::string With(std::string text, std::size_t place, std::string_view bytes) {
  return text.replace(place, bytes.size(), bytes);
}

TEST(DecodeOtherImageTest, ReadsEveryFormatItNames) {
  const cv::Mat image = Photograph(21, 13);
  for (const char* extension : {".png", ".bmp", ".tiff", ".webp"}) {
    // Quality above 100 makes WebP lossless; the others do not know it.
    const std::vector<int> parameters =
        std::string_view(extension) == ".webp"
            ? std::vector<int>{cv::IMWRITE_WEBP_QUALITY, 101}
            : std::vector<int>{};
    RgbImage decoded;
    DecodeOtherImage(AsBytes(Encoded(image, extension, parameters)), kNoLimit,
                     decoded);
    ASSERT_EQ(decoded.width(), 21) << extension;
    ASSERT_EQ(decoded.height(), 13) << extension;
    const auto pixel = image.at<cv::Vec3b>(12, 20);  // B G R
    EXPECT_EQ(decoded.row(12)[60], pixel[2]) << extension;
    EXPECT_EQ(decoded.row(12)[61], pixel[1]) << extension;
    EXPECT_EQ(decoded.row(12)[62], pixel[0]) << extension;
  }
}

// A JPEG 2000 file without losses, of at least 32 pixels a side.
std::string Jp2(const cv::Mat& image) {
  return Encoded(image, ".jp2", {cv::IMWRITE_JPEG2000_COMPRESSION_X1000, 1000});
}

// The codestream inside, which is a file of its own as well.
std::string Codestream(const std::string& jp2) {
  return jp2.substr(jp2.find("jp2c") + 4);
}

TEST(DecodeOtherImageTest, ReadsJpeg2000AndItsCodestream) {
  const cv::Mat image = Photograph(61, 43);
  const std::string jp2 = Jp2(image);
  for (const std::string& file : {jp2, Codestream(jp2)}) {
    RgbImage decoded;
    DecodeOtherImage(AsBytes(file), 61 * 43, decoded);
    ASSERT_EQ(decoded.width(), 61);
    ASSERT_EQ(decoded.height(), 43);
    const auto pixel = image.at<cv::Vec3b>(12, 20);  // B G R
    EXPECT_NEAR(decoded.row(12)[60], pixel[2], 2);
    EXPECT_NEAR(decoded.row(12)[62], pixel[0], 2);
    EXPECT_EQ(ErrorOf(AsBytes(file), 61 * 43 - 1),
              "an image of 61x43 pixels is over the limit of 2622");
  }
}

// OpenCV has a warning for each codestream and an error for each broken one.
TEST(DecodeOtherImageTest, PrintsNothing) {
  const std::string file = Codestream(Jp2(Photograph(61, 43)));
  testing::internal::CaptureStderr();
  EXPECT_EQ(ErrorOf(AsBytes(file)), "");
  EXPECT_THAT(ErrorOf(AsBytes(file.substr(0, 100))),
              StartsWith("OpenCV cannot read the image"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// The header for people may lie about what a decoder would allocate.
TEST(DecodeOtherImageTest, LimitsTheJpeg2000SizeThatIsAllocated) {
  const std::string jp2 = Jp2(Photograph(40, 40));
  const std::string huge = With(jp2, jp2.find("jp2c") + 12, "\x7f\xff\xff\xff");
  EXPECT_THAT(ErrorOf(AsBytes(huge), 10000), HasSubstr("over the limit"));
}

TEST(DecodeOtherImageTest, RefusesOtherBytes) {
  EXPECT_EQ(ErrorOf({}), kUnknown);
  EXPECT_EQ(ErrorOf(AsBytes("garbage")), kUnknown);
  EXPECT_EQ(ErrorOf(AsBytes("P7 332 abcd")), kUnknown);
  EXPECT_EQ(ErrorOf(AsBytes("\x89PNG\r\n\x1a\n")), kUnknown);
}

TEST(DecodeOtherImageTest, RefusesAClaimedSizeBeforeDecoding) {
  const std::string png = Encoded(Photograph(4, 4), ".png");
  EXPECT_EQ(ErrorOf(AsBytes(png), 15),
            "an image of 4x4 pixels is over the limit of 15");
  EXPECT_EQ(ErrorOf(AsBytes(png), 16), "");
  const std::string huge = With(png, 16, "\x7f\xff\xff\xff\x7f\xff\xff\xff");
  EXPECT_EQ(ErrorOf(AsBytes(huge)),
            "an image of 2147483647x2147483647 pixels is over the limit of "
            "1099511627776");
}

TEST(DecodeOtherImageTest, PassesOnWhatOpencvThrows) {
  // A side of more than 2^20 pixels is over a limit of OpenCV's own. Bitmaps
  // have no checksum over their header.
  const std::string bmp =
      With(Encoded(Photograph(4, 4), ".bmp"), 18, {"\x01\x00\x20\x00", 4});
  EXPECT_THAT(ErrorOf(AsBytes(bmp)),
              StartsWith("OpenCV cannot read the image: "));
}

TEST(DecodeOtherImageTest, RefusesATruncatedImage) {
  const std::string png = Encoded(Photograph(40, 40), ".png");
  EXPECT_EQ(ErrorOf(AsBytes(png.substr(0, png.size() / 2))),
            "libpng cannot read the image: it ends too early");
}

// A PNG with a chunk before its pixels whose checksum is wrong.
std::string WithBrokenChunk(const std::string& png, const std::string& type) {
  constexpr std::size_t kHeaderEnd = 33;
  return png.substr(0, kHeaderEnd) + std::string("\0\0\0\4", 4) + type +
         "abcd" + "sum!" + png.substr(kHeaderEnd);
}

// libpng would print a warning or an error for each.
TEST(DecodeOtherImageTest, PrintsNothingAboutPngs) {
  const std::string png = Encoded(Photograph(40, 40), ".png");
  testing::internal::CaptureStderr();
  EXPECT_EQ(ErrorOf(AsBytes(WithBrokenChunk(png, "iCCP"))), "");
  EXPECT_EQ(ErrorOf(AsBytes(WithBrokenChunk(png, "sRGB"))), "");
  EXPECT_EQ(ErrorOf(AsBytes(WithBrokenChunk(png, "PLTE"))),
            "libpng cannot read the image: PLTE: CRC error");
  EXPECT_THAT(ErrorOf(AsBytes(With(png, png.find("IDAT") + 40, "garbage"))),
              StartsWith("libpng cannot read the image: IDAT: "));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DecodeOtherImageTest, RefusesMoreBytesThanOpencvCounts) {
  const std::string png = Encoded(Photograph(4, 4), ".png");
  // Only the header is looked at.
  const std::span<const std::byte> huge(AsBytes(png).data(), 3000000000U);
  EXPECT_EQ(ErrorOf(huge),
            "an image of 3000000000 bytes is over the limit of 2 GB");
}

TEST(ReadStoredSizeTest, KnowsEveryFormatsHeader) {
  const cv::Mat image = Photograph(300, 7);
  // The image's corners, (304, 10) and (4, 3); a long box before the stream's.
  const std::string codestream(
      "\xff\x4f\xff\x51\0\x29\0\0\0\0\1\x30\0\0\0\x0a\0\0\0\4\0\0\0\3", 24);
  const std::string boxes(
      "\0\0\0\x0cjP  \r\n\x87\n\0\0\0\1free\0\0\0\0\0\0\0\x12xx"
      "\0\0\0\0jp2c",
      38);
  const std::string files[] = {
      Encoded(image, ".png"),
      Encoded(image, ".bmp"),
      Encoded(image, ".tiff"),
      Encoded(image, ".webp", {cv::IMWRITE_WEBP_QUALITY, 90}),
      Encoded(image, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101}),
      {"II*\0\x08\0\0\0\2\0"
       "\0\1\3\0\1\0\0\0\x2c\1\0\0"
       "\1\1\4\0\1\0\0\0\7\0\0\0",
       34},
      {"MM\0*\0\0\0\x08\0\2"
       "\1\0\0\3\0\0\0\1\1\x2c\0\0"
       "\1\1\0\4\0\0\0\1\0\0\0\7",
       34},
      {"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x2b\1\0\6\0\0", 30},
      codestream,
      boxes + codestream,
      Encoded(image, ".ppm"),
      "P2\n# a comment of 12 words\r# and one more\n300\t7\n255\n",
      "P4 300 7 ",
      {"BM\0\0\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0\x2c\1\7\0", 22},
      {"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x2c\1\0\0\xf9\xff\xff\xff", 26},
  };
  for (const std::string& file : files) {
    const std::optional<StoredSize> size = ReadStoredSize(AsBytes(file));
    ASSERT_TRUE(size) << file.substr(0, 4);
    EXPECT_EQ(size->width, 300) << file.substr(0, 4);
    EXPECT_EQ(size->height, 7) << file.substr(0, 4);
  }
}

TEST(ReadStoredSizeTest, StopsWhereTheHeaderIsCut) {
  const cv::Mat image = Photograph(30, 20);
  for (const char* extension : {".png", ".bmp", ".webp", ".tiff"}) {
    const std::string file = Encoded(image, extension);
    for (std::size_t size = 0; size < 22; ++size) {
      EXPECT_FALSE(ReadStoredSize(AsBytes(file.substr(0, size)))) << size;
    }
  }
}

TEST(ReadStoredSizeTest, StopsWhereAJpeg2000IsCutOrWrong) {
  const std::string jp2 = Jp2(Photograph(40, 40));
  const std::size_t needed = jp2.find("jp2c") + 4 + 24;
  for (std::size_t size = 0; size < needed; ++size) {
    EXPECT_FALSE(ReadStoredSize(AsBytes(jp2.substr(0, size)))) << size;
  }
  EXPECT_TRUE(ReadStoredSize(AsBytes(jp2.substr(0, needed))));
  // The second box claims to be shorter than its header, then endless.
  EXPECT_FALSE(ReadStoredSize(AsBytes(With(jp2, 12, {"\0\0\0\7", 4}))));
  EXPECT_FALSE(ReadStoredSize(AsBytes(With(jp2, 12, "\x7f\xff\xff\xff"))));
}

TEST(ReadStoredSizeTest, RefusesPnmHeadersWithoutASize) {
  for (const char* text : {"P5", "P5 ", "P5 3", "P5 3 x", "P5 #3 3", "P5 0 3 ",
                           "P5 -3 3 ", "P5 3 4294967297 ", "P0 3 3 "}) {
    EXPECT_FALSE(ReadStoredSize(AsBytes(text))) << text;
  }
}

// OpenCV prints a line of its own where it finds no largest value.
TEST(ReadStoredSizeTest, RefusesPnmHeadersWithoutALargestValue) {
  for (const std::string text :
       {"P5 3 3", "P5 3 3 x", "P6 3 3 0 ", "P5 3 3 65536 "}) {
    EXPECT_FALSE(ReadStoredSize(AsBytes(text))) << text;
  }
  const std::string hole("P5 4 4\0\0\0 255 0123456789abcdef", 29);
  EXPECT_FALSE(ReadStoredSize(AsBytes(hole)));
  EXPECT_TRUE(ReadStoredSize(AsBytes("P1 3 3 ")));
}

// Cut and mirrored alike: a PNG of what a JPEG decodes to gives its pixels.
TEST(PreprocessorTest, TreatsAPngLikeAJpegInEachRecipe) {
  constexpr int kSize = 24;
  const std::string jpeg = TestJpeg({.width = 70, .height = 50});
  RgbImage image;
  ImageDecoder().Decode(AsBytes(jpeg), image);
  const std::string png = EncodePng(image.view());
  for (const auto& [name, recipe] : kRecipes) {
    for (const bool training : {false, true}) {
      Preprocessor preprocessor({.recipe = recipe, .image_size = kSize},
                                training);
      for (std::uint64_t position = 0; position < 4; ++position) {
        std::vector<std::uint32_t> pixels(std::size_t{kSize} * kSize);
        std::vector<std::uint32_t> expected(pixels.size());
        const FillCounts counts =
            preprocessor.Fill(AsBytes(png), {.position = position}, pixels);
        EXPECT_EQ(counts.decoded_pixels + counts.outside_pixels, 70 * 50);
        preprocessor.Fill(AsBytes(jpeg), {.position = position}, expected);
        EXPECT_EQ(pixels, expected) << name;
      }
    }
  }
}

TEST(ImageDecoderTest, DetectsKindsByContent) {
  ImageDecoder decoder;
  RgbImage image;
  decoder.Decode(AsBytes(TestJpeg({.width = 31, .height = 17})), image);
  EXPECT_EQ(image.width(), 31);
  EXPECT_EQ(image.height(), 17);
  const RgbImage photograph = TestPhotograph(20, 10, 1);
  decoder.Decode(AsBytes(EncodePng(photograph.view())), image);
  EXPECT_EQ(Flat(image.view()), Flat(photograph.view()));
}

TEST(ImageDecoderTest, StaysUsableAfterBadBytes) {
  ImageDecoder decoder;
  RgbImage image;
  const std::string jpeg = TestJpeg({.width = 31, .height = 17});
  EXPECT_THROW(decoder.Decode(AsBytes(jpeg.substr(0, 300)), image), DataError);
  EXPECT_THROW(decoder.Decode(AsBytes("neither"), image), DataError);
  decoder.Decode(AsBytes(jpeg), image);
  EXPECT_EQ(image.width(), 31);
}

TEST(ImageDecoderTest, LimitsBothKinds) {
  ImageDecoder decoder({.max_pixels = 100});
  RgbImage image;
  EXPECT_THROW(
      decoder.Decode(AsBytes(TestJpeg({.width = 11, .height = 10})), image),
      DataError);
  EXPECT_THROW(decoder.Decode(
                   AsBytes(EncodePng(TestPhotograph(11, 10, 1).view())), image),
               DataError);
}

}  // namespace infeed::codec_plugin_test
