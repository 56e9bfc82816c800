#include "preprocess/codecs/pnm_codec.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/stored_size.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::pnm_codec_test {

using std::string_literals::operator""s;

constexpr std::int64_t kLimit = 1000;

// R G B of every pixel.
std::string Decoded(const std::string& pnm) {
  RgbImage image;
  DecodeOtherImage(AsBytes(pnm), kLimit, image);
  return Flat(image.view());
}

std::string ErrorOf(const std::string& pnm) {
  return MessageOf<DataError>([&] { Decoded(pnm); });
}

std::string Gray(const std::vector<int>& values) {
  std::string pixels;
  for (const int value : values) {
    pixels += std::string(3, static_cast<char>(value));
  }
  return pixels;
}

// A sample as binary files have it.
std::string Binary(int value, int max_value) {
  const std::string low(1, static_cast<char>(value));
  return max_value > 255 ? std::string(1, static_cast<char>(value >> 8)) + low
                         : low;
}

TEST(PnmCodecTest, ScalesEveryMaximumToWhite) {
  for (const int max_value : {1, 2, 7, 15, 100, 254, 255, 256, 1000, 1023, 4095,
                              16383, 65534, 65535}) {
    const std::string size = " 3 1 " + std::to_string(max_value) + "\n";
    const int middle = max_value / 2;
    const auto scaled =
        static_cast<int>(std::lround(255.0 * middle / max_value));
    const std::string expected = Gray({0, scaled, 255});
    std::string text;
    std::string text3;
    std::string binary;
    std::string binary3;
    std::string binary4;
    for (const int value : {0, middle, max_value}) {
      const std::string one = Binary(value, max_value);
      text += std::to_string(value) + " ";
      binary += one;
      binary3 += one + one + one;
      binary4 += one + one + one + Binary(max_value / 3, max_value);
      for (int i = 0; i < 3; ++i) {
        text3 += std::to_string(value) + "\n";
      }
    }
    const auto pam = [&](int channels, const std::string& samples) {
      return "P7\nWIDTH 3\nHEIGHT 1\n# a comment\nDEPTH " +
             std::to_string(channels) + "\nMAXVAL " +
             std::to_string(max_value) + "\nENDHDR\n" + samples;
    };
    EXPECT_EQ(Decoded("P2" + size + text), expected) << max_value;
    EXPECT_EQ(Decoded("P3" + size + text3), expected) << max_value;
    EXPECT_EQ(Decoded("P5" + size + binary), expected) << max_value;
    EXPECT_EQ(Decoded("P6" + size + binary3), expected) << max_value;
    EXPECT_EQ(Decoded(pam(1, binary)), expected) << max_value;
    EXPECT_EQ(Decoded(pam(3, binary3)), expected) << max_value;
    EXPECT_EQ(Decoded(pam(4, binary4)), expected) << max_value;
  }
}

TEST(PnmCodecTest, ReadsColoursInOrder) {
  EXPECT_EQ(Decoded("P6 1 2 255 abcdef"), "abcdef");
  EXPECT_EQ(Decoded("P3 1 1 255 97 98 99"), "abc");
}

TEST(PnmCodecTest, ReadsBitmaps) {
  const std::string expected = Gray(
      {0, 255, 0, 0, 255, 255, 255, 255, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(Decoded("P1 9 2\n101100001 001111111"), expected);
  EXPECT_EQ(Decoded("P1\n9 2\n1 0 1 1 0 0 0 0 1\n# a comment\n0 0 1111111"),
            expected);
  EXPECT_EQ(Decoded("P4\n9 2\n\xb0\x80\x3f\x80"), expected);
  EXPECT_EQ(Decoded("P7 WIDTH 2 HEIGHT 1 DEPTH 2 MAXVAL 1 TUPLTYPE "
                    "BLACKANDWHITE_ALPHA\nENDHDR\n\1\0\0\1"s),
            Gray({255, 0}));
}

TEST(PnmCodecTest, SkipsCommentsOfTheHeader) {
  EXPECT_EQ(Decoded("P5#a\n#b 9\n1#c\r1 # d\n255\nx"), Gray({'x'}));
  EXPECT_EQ(Decoded("P5 1 1 255# e\nx"), Gray({'x'}));
}

// Bytes after the first image are not read.
TEST(PnmCodecTest, ReadsTheFirstImage) {
  EXPECT_EQ(Decoded("P5 1 1 255 xP5 1 1 255 y"), Gray({'x'}));
}

TEST(PnmCodecTest, RefusesWhatIsMissingOrAboveTheMaximum) {
  for (const std::string& pnm :
       {"P5 2 2 255 abc"s, "P6 1 1 255 ab"s, "P5 1 1 256 a"s, "P4 9 1 a"s,
        "P2 2 2 255 1 2"s, "P1 3 1 01"s,
        "P7 WIDTH 2 HEIGHT 1 DEPTH 1 MAXVAL 255 ENDHDR\na"s}) {
    EXPECT_EQ(ErrorOf(pnm), "cannot read the PNM image: it ends too early")
        << pnm;
  }
  for (const std::string& pnm :
       {"P2 2 1 255 12  "s, "P2 2 1 255 1 x"s, "P1 2 1 1 2"s, "P2 1 1 9 -1"s}) {
    EXPECT_EQ(ErrorOf(pnm),
              "cannot read the PNM image: a sample is missing or damaged")
        << pnm;
  }
  for (const std::string& pnm : {"P2 1 1 15 16"s, "P5 1 1 15 \x10"s}) {
    EXPECT_EQ(ErrorOf(pnm),
              "cannot read the PNM image: a sample of 16 is above the maximum "
              "of 15")
        << pnm;
  }
}

TEST(PnmCodecTest, RefusesOtherHeaders) {
  for (const std::string& pnm :
       {"P7 WIDTH 1 HEIGHT 1 DEPTH 5 MAXVAL 255 ENDHDR\nabcde"s,
        "P7 WIDTH 1 HEIGHT 1 DEPTH 1 MAXVAL 255\nabcde"s,
        "P7 WIDTH 1 HEIGHT 1 MAXVAL 255 ENDHDR\nabcde"s,
        "P7 WIDTH 1 HEIGHT 1 DEPTH 4 MAXVAL 255 TUPLTYPE CMYK ENDHDR\nabcd"s,
        "P7 332\nabcde"s, "P7\n# no end"s, "P8 1 1 255 a"s, "P5"s, "P7"s}) {
    EXPECT_FALSE(ReadPnmHeader(AsBytes(pnm))) << pnm;
    EXPECT_FALSE(ReadStoredSize(AsBytes(pnm))) << pnm;
  }
}

TEST(PnmCodecTest, LimitsPixelsBeforeItAllocates) {
  EXPECT_EQ(ErrorOf("P7 WIDTH 100 HEIGHT 11 DEPTH 1 MAXVAL 255 ENDHDR\n"),
            "an image of 100x11 pixels is over the limit of 1000");
  EXPECT_EQ(ErrorOf("P2 100 11 255\n"),
            "an image of 100x11 pixels is over the limit of 1000");
}

}  // namespace infeed::pnm_codec_test
