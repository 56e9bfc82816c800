#include "preprocess/codecs/exif.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

constexpr const char* kPngStart = "\x89PNG\r\n\x1a\n";

// The container of a WebP file with EXIF data alone, no image.
std::string WebpWithOrientation(int orientation, bool with_name) {
  const std::string exif = (with_name ? std::string("Exif\0\0", 6) : "") +
                           ExifTiff(orientation, false);
  std::string bytes("RIFF\0\0\0\0WEBPVP8L\3\0\0\0abc\0EXIF\0\0\0\0", 32);
  bytes[28] = static_cast<char>(exif.size());
  return bytes + exif;
}

RgbImage Decoded(const std::string& jpeg) {
  JpegDecoder decoder;
  RgbImage image;
  static_cast<void>(decoder.ReadHeader(AsBytes(jpeg)));
  decoder.Decode(image);
  return image;
}

// OpenCV turns images by their EXIF data. It keeps B G R.
std::string TurnedByOpencv(const std::string& jpeg) {
  const cv::Mat bytes(1, static_cast<int>(jpeg.size()), CV_8U,
                      const_cast<char*>(jpeg.data()));
  const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
  std::string pixels;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      const auto& pixel = image.at<cv::Vec3b>(y, x);
      for (const int channel : {2, 1, 0}) {
        pixels.push_back(static_cast<char>(pixel[channel]));
      }
    }
  }
  return pixels;
}

TEST(ExifTest, ReadsTheOrientationInEitherByteOrder) {
  const std::string jpeg = TestJpeg();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      EXPECT_EQ(ReadExifOrientation(
                    AsBytes(WithOrientation(jpeg, orientation, big_endian))),
                orientation);
    }
  }
}

// Some programs write it as a LONG, some as a BYTE.
TEST(ExifTest, ReadsTheOrientationOfEveryIntegerType) {
  const std::string jpeg = TestJpeg();
  for (const auto& [type, bytes] :
       {std::pair(1, 1), std::pair(3, 2), std::pair(4, 4), std::pair(6, 1),
        std::pair(8, 2), std::pair(9, 4)}) {
    for (const bool big_endian : {false, true}) {
      EXPECT_EQ(ReadExifOrientation(
                    AsBytes(WithOrientation(jpeg, 6, big_endian, type, bytes))),
                6)
          << "type " << type;
    }
  }
  EXPECT_EQ(ReadExifOrientation(AsBytes(WithOrientation(jpeg, 6, false, 2, 1))),
            1);  // text
}

TEST(ExifTest, ReadsTheOrientationBehindBytesThatAreNoMarker) {
  std::string jpeg = WithOrientation(TestJpeg(), 6);
  jpeg.insert(2, "junk");
  EXPECT_EQ(ReadExifOrientation(AsBytes(jpeg)), 6);
}

TEST(ExifTest, ReadsTheOrientationOfPngAndWebp) {
  const std::string png = EncodePng(TestPhotograph(9, 7, 1).view());
  EXPECT_EQ(ReadExifOrientation(AsBytes(png)), 1);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(
        ReadExifOrientation(AsBytes(PngWithOrientation(png, orientation))),
        orientation);
    for (const bool with_name : {false, true}) {
      EXPECT_EQ(ReadExifOrientation(
                    AsBytes(WebpWithOrientation(orientation, with_name))),
                orientation);
    }
  }
}

// A TIFF of one row: a red and a blue pixel.
std::string TiffWithOrientation(int orientation) {
  const auto entry = [](int tag, int type, int count, int value) {
    std::string text;
    for (const auto& [number, bytes] :
         {std::pair(tag, 2), std::pair(type, 2), std::pair(count, 4),
          std::pair(value, 4)}) {
      for (int i = 0; i < bytes; ++i) {
        text.push_back(static_cast<char>(number >> (8 * i)));
      }
    }
    return text;
  };
  constexpr int kEntries = 10;
  constexpr int kPixels = 8 + 2 + 12 * kEntries + 4;
  return std::string("II*\0\x08\0\0\0\x0a\0", 10) + entry(256, 3, 1, 2) +
         entry(257, 3, 1, 1) + entry(258, 3, 1, 8) + entry(259, 3, 1, 1) +
         entry(262, 3, 1, 2) + entry(273, 4, 1, kPixels) +
         entry(274, 3, 1, orientation) + entry(277, 3, 1, 3) +
         entry(278, 3, 1, 1) + entry(279, 4, 1, 6) + std::string(4, '\0') +
         std::string("\xff\0\0\0\0\xff", 6);
}

// OpenCV turns them itself, whatever is asked for.
TEST(ExifTest, LeavesTiffsToOpencv) {
  for (const int orientation : {1, 6}) {
    const std::string tiff = TiffWithOrientation(orientation);
    RgbImage image;
    DecodeOtherImage(AsBytes(tiff), 100, image);
    EXPECT_EQ(image.height(), orientation == 6 ? 2 : 1);
    EXPECT_EQ(ReadExifOrientation(AsBytes(tiff)), 1);
  }
}

TEST(ExifTest, TurnsImagesAsOpencvDoes) {
  const std::string plain = TestJpeg({.width = 19, .height = 13});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string jpeg = WithOrientation(plain, orientation);
    RgbImage turned;
    TurnUpright(Decoded(jpeg).view(), orientation, turned);
    EXPECT_EQ(turned.width(), orientation >= 5 ? 13 : 19);
    EXPECT_EQ(Flat(turned.view()), TurnedByOpencv(jpeg)) << orientation;
  }
}

TEST(ExifTest, TakesNothingAndInvalidValuesForUpright) {
  EXPECT_EQ(ReadExifOrientation({}), 1);
  EXPECT_EQ(ReadExifOrientation(AsBytes("\xff\xd8")), 1);
  const std::string jpeg = TestJpeg();
  EXPECT_EQ(ReadExifOrientation(AsBytes(jpeg)), 1);
  EXPECT_EQ(ReadExifOrientation(AsBytes(WithOrientation(jpeg, 0))), 1);
  EXPECT_EQ(ReadExifOrientation(AsBytes(WithOrientation(jpeg, 9))), 1);
}

// Cut anywhere and with any byte changed it says one of the eight.
TEST(ExifTest, SurvivesDamage) {
  const std::string jpeg = WithOrientation(TestJpeg(), 6);
  const std::size_t header = 2 + 4 + 6 + 8 + 2 + 24;
  for (std::size_t end = 0; end <= header; ++end) {
    EXPECT_EQ(ReadExifOrientation(AsBytes(jpeg.substr(0, end))), 1) << end;
  }
  for (const std::string& image :
       {jpeg.substr(0, header), WebpWithOrientation(6, true),
        PngWithOrientation(std::string(33, 'x'), 6).replace(0, 8, kPngStart)}) {
    for (std::size_t place = 0; place < image.size(); ++place) {
      for (const int value : {0x00, 0x7f, 0x80, 0xff}) {
        std::string damaged = image;
        damaged[place] = static_cast<char>(value);
        const int orientation = ReadExifOrientation(AsBytes(damaged));
        EXPECT_TRUE(orientation >= 1 && orientation <= 8);
      }
    }
  }
}

}  // namespace
}  // namespace infeed
