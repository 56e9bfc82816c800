#include "tools/convert/image_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/exif.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/resize/area.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::image_encoder_test {

std::string MessageFor(const std::string& file, bool verify = true) {
  ImageEncoder encoder({.verify = verify});
  return MessageOf<DataError>([&] { (void)encoder.Encode(file); });
}

RgbImage Decoded(const std::string& jpeg) {
  JpegDecoder decoder;
  RgbImage image;
  (void)decoder.ReadHeader(AsBytes(jpeg));
  decoder.Decode(image);
  return image;
}

// The mean difference of the pixels of two images of one size.
double Difference(const RgbImage& a, const RgbImage& b) {
  const std::string x = Flat(a.view());
  const std::string y = Flat(b.view());
  EXPECT_EQ(x.size(), y.size());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    sum += std::abs(static_cast<unsigned char>(x[i]) -
                    static_cast<unsigned char>(y[i]));
  }
  return sum / static_cast<double>(x.size());
}

TEST(ImageEncoderTest, LeavesJpegsAsTheyAreAlsoAfterABadOne) {
  ImageEncoder encoder;
  EXPECT_THROW((void)encoder.Encode(TestJpeg().substr(0, 100)), DataError);
  for (const TestJpegOptions& options :
       {TestJpegOptions{.width = 33, .height = 17},
        TestJpegOptions{.width = 33, .height = 17, .color = TestColor::kGray},
        TestJpegOptions{.width = 33, .height = 17, .progressive = true}}) {
    const std::string file = TestJpeg(options);
    const EncodedImage encoded = encoder.Encode(file);
    EXPECT_EQ(encoded.bytes, file);
    EXPECT_EQ(encoded.width, 33);
    EXPECT_EQ(encoded.height, 17);
    EXPECT_EQ(encoded.reencoded, "");
  }
}

TEST(ImageEncoderTest, MakesAnRgbJpegOfEachKindOfCmyk) {
  ImageEncoder encoder;
  for (const TestColor color :
       {TestColor::kCmyk, TestColor::kAdobeCmyk, TestColor::kAdobeYcck}) {
    const std::string file =
        TestJpeg({.width = 33, .height = 17, .color = color});
    const EncodedImage encoded = encoder.Encode(file);
    EXPECT_EQ(encoded.reencoded, "CMYK");
    EXPECT_EQ(encoded.width, 33);
    const JpegInfo info = JpegDecoder().ReadHeader(AsBytes(encoded.bytes));
    EXPECT_EQ(info.components, 3);
    EXPECT_EQ(info.height, 17);
  }
}

TEST(ImageEncoderTest, MakesAJpegOfAPngWithNearlyItsPixels) {
  const RgbImage image = TestPhotograph(40, 30, 1);
  const std::string png = EncodePng(image.view());
  ImageEncoder encoder;
  const EncodedImage encoded = encoder.Encode(png);
  EXPECT_EQ(encoded.reencoded, kLossyPng);
  const RgbImage decoded = Decoded(encoded.bytes);
  ASSERT_EQ(decoded.width(), 40);
  EXPECT_LT(Difference(image, decoded), 6);
}

TEST(ImageEncoderTest, FindsATruncatedJpegOnlyByDecoding) {
  const std::string file = TestJpeg();
  const std::string cut = file.substr(0, file.size() / 2);
  EXPECT_NE(MessageFor(cut), "");
  EXPECT_EQ(MessageFor(cut, false), "");
}

TEST(ImageEncoderTest, MendsADamagedJpegWhenAsked) {
  const std::string file = TestJpeg({.width = 64, .height = 64});
  ImageEncoder encoder({.mend = true});
  const EncodedImage encoded =
      encoder.Encode(file.substr(0, file.size() * 3 / 4));
  EXPECT_TRUE(encoded.mended);
  EXPECT_THAT(encoded.reencoded, HasSubstr("damaged: Premature end"));
  EXPECT_EQ(Decoded(encoded.bytes).height(), 64);
  const EncodedImage good = encoder.Encode(file);
  EXPECT_FALSE(good.mended);
  EXPECT_EQ(good.bytes, file);
  EXPECT_THROW((void)encoder.Encode("no image"), DataError);
}

TEST(ImageEncoderTest, ShrinksLargerImagesAndNoOthers) {
  ImageEncoder encoder({.max_size = 32});
  const std::string large = TestJpeg({.width = 200, .height = 100});
  const EncodedImage encoded = encoder.Encode(large);
  EXPECT_EQ(encoded.width, 64);
  EXPECT_EQ(encoded.height, 32);
  EXPECT_EQ(encoded.reencoded, "larger than --max_size");
  RgbImage expected;
  ResizeArea(Decoded(large).view(), 64, 32, expected);
  EXPECT_LT(Difference(Decoded(encoded.bytes), expected), 6);

  const std::string small = TestJpeg({.width = 32, .height = 1000});
  EXPECT_EQ(encoder.Encode(small).bytes, small);
}

TEST(ImageEncoderTest, ShrinksToTheExactSizeFromEveryScale) {
  ImageEncoder encoder({.max_size = 33});
  for (const int height : {34, 37, 63, 66, 67, 131, 132, 263, 264, 265, 530}) {
    const EncodedImage encoded =
        encoder.Encode(TestJpeg({.width = height + 11, .height = height}));
    EXPECT_EQ(encoded.height, 33) << height;
    EXPECT_EQ(encoded.width, std::lround(33.0 * (height + 11) / height))
        << height;
  }
}

TEST(ImageEncoderTest, EncodesShrunkImagesWithTheQualityGiven) {
  const std::string large = TestJpeg({.width = 200, .height = 200});
  ImageEncoder coarse({.max_size = 100, .quality = 30});
  ImageEncoder fine({.max_size = 100, .quality = 95});
  EXPECT_LT(coarse.Encode(large).bytes.size(),
            fine.Encode(large).bytes.size() / 2);
}

TEST(ImageEncoderTest, KeepsPngsWhenAsked) {
  const std::string png = EncodePng(TestPhotograph(40, 30, 1).view());
  ImageEncoder encoder({.keep_png = true});
  const EncodedImage kept = encoder.Encode(png);
  EXPECT_EQ(kept.bytes, png);
  EXPECT_EQ(kept.format, "PNG");
  EXPECT_EQ(kept.width, 40);
  EXPECT_EQ(kept.reencoded, "");
}

TEST(ImageEncoderTest, TurnsImagesWhenAsked) {
  const std::string plain = TestJpeg({.width = 40, .height = 24});
  const std::string turned = WithOrientation(plain, 6);
  EXPECT_EQ(ImageEncoder().Encode(turned).bytes, turned);
  ImageEncoder encoder({.exif_rotate = true});
  EXPECT_EQ(encoder.Encode(plain).bytes, plain);
  const EncodedImage encoded = encoder.Encode(turned);
  EXPECT_EQ(encoded.width, 24);
  EXPECT_EQ(encoded.height, 40);
  EXPECT_EQ(ReadExifOrientation(AsBytes(encoded.bytes)), 1);
  RgbImage expected;
  TurnUpright(Decoded(plain).view(), 6, expected);
  EXPECT_LT(Difference(Decoded(encoded.bytes), expected), 6);
}

TEST(ImageEncoderTest, SaysWhichTurnWasNotMade) {
  const std::string jpeg = WithOrientation(TestJpeg(), 3);
  const std::string png =
      PngWithOrientation(EncodePng(TestPhotograph(40, 30, 1).view()), 8);
  for (const ImageForm format : {ImageForm::kJpeg, ImageForm::kPixels}) {
    ImageEncoder encoder({.format = format});
    EXPECT_EQ(encoder.Encode(jpeg).ignored_orientation, 3);
    EXPECT_EQ(encoder.Encode(png).ignored_orientation, 8);
    ImageEncoder turning({.format = format, .exif_rotate = true});
    EXPECT_EQ(turning.Encode(jpeg).ignored_orientation, 1);
    EXPECT_EQ(turning.Encode(png).ignored_orientation, 1);
  }
}

TEST(ImageEncoderTest, TurnsPngsWithoutLoss) {
  const RgbImage image = TestPhotograph(40, 30, 1);
  const std::string png = PngWithOrientation(EncodePng(image.view()), 6);
  RgbImage expected;
  TurnUpright(image.view(), 6, expected);
  ImageEncoder keeping({.keep_png = true, .exif_rotate = true});
  const EncodedImage kept = keeping.Encode(png);
  EXPECT_EQ(kept.format, "PNG");
  EXPECT_EQ(kept.width, 30);
  RgbImage turned;
  DecodeOtherImage(AsBytes(kept.bytes), 1 << 20, turned);
  EXPECT_EQ(Flat(turned.view()), Flat(expected.view()));
  ImageEncoder encoder({.exif_rotate = true});
  EXPECT_LT(Difference(Decoded(encoder.Encode(png).bytes), expected), 6);
}

TEST(ImageEncoderTest, NamesFormatsThatItCannotRead) {
  using std::string_literals::operator""s;
  EXPECT_THAT(MessageFor(""), HasSubstr("the file is empty"));
  EXPECT_NE(MessageFor("<html>404</html>"), "");
  EXPECT_EQ(MessageFor("GIF89a..."),
            "GIF images cannot be read: convert them to PNG or JPEG first");
  EXPECT_THAT(MessageFor("\0\0\0\x1c"
                         "ftypavif...."s),
              HasSubstr("AVIF"));
  EXPECT_THAT(MessageFor("\0\0\0\x18"
                         "ftypheic...."s),
              HasSubstr("HEIC"));
  EXPECT_THAT(MessageFor("\xff\x0a..."), HasSubstr("JPEG XL images"));
}

TEST(ImageEncoderTest, PacksTheMiddleOfAnImage) {
  ImageEncoder encoder({.format = ImageForm::kPixels, .image_size = 32});
  const EncodedImage encoded =
      encoder.Encode(EncodePng(TestPhotograph(50, 32, 1).view()));
  EXPECT_EQ(encoded.format, "packed");
  EXPECT_EQ(encoded.width, 32);
  EXPECT_EQ(encoded.height, 32);
  ASSERT_EQ(encoded.bytes.size(), 4U * 32 * 32);
  const RgbImage source = TestPhotograph(50, 32, 1);
  const RgbView middle =
      source.view({.y = 0, .x = 9, .height = 32, .width = 32});
  const std::uint8_t* const pixel = middle.row(3) + 3 * 5;
  // Little-endian R << 24 | G << 16 | B << 8.
  const std::string expected = {'\0', static_cast<char>(pixel[2]),
                                static_cast<char>(pixel[1]),
                                static_cast<char>(pixel[0])};
  EXPECT_EQ(encoded.bytes.substr(4 * (3 * 32 + 5), 4), expected);
}

TEST(ImageEncoderTest, PacksTheMiddleThatIsNotSquare) {
  ImageEncoder encoder({.format = ImageForm::kPixels, .image_size = {24, 32}});
  // Resized by nothing: the width is covered at once, the height is cut.
  const RgbImage source = TestPhotograph(32, 50, 1);
  const EncodedImage encoded = encoder.Encode(EncodePng(source.view()));
  EXPECT_EQ(encoded.width, 32);
  EXPECT_EQ(encoded.height, 24);
  std::vector<std::uint32_t> expected(24U * 32);
  PackImage(source.view({.y = 13, .x = 0, .height = 24, .width = 32}), false,
            expected);
  const auto bytes = std::as_bytes(std::span(expected));
  EXPECT_EQ(
      encoded.bytes,
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const int side : {8, 23, 32, 33, 300}) {
    for (const auto& [width, height] :
         {std::pair(2 * side, side), std::pair(side, 2 * side)}) {
      EXPECT_EQ(encoder.Encode(TestJpeg({.width = width, .height = height}))
                    .bytes.size(),
                4U * 24 * 32);
    }
  }
}

}  // namespace infeed::image_encoder_test
