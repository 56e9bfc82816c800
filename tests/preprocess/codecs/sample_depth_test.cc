#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "preprocess/codecs/codec_plugin.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/tiff_directory.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::sample_depth_test {

using std::string_literals::operator""s;

std::string Number(std::int64_t value, int bytes, bool big_endian = false) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    const int place = big_endian ? bytes - 1 - i : i;
    text.push_back(static_cast<char>(value >> (8 * place)));
  }
  return text;
}

struct GrayTiff {
  int bits = 16;
  std::vector<int> samples = {};  // of one row
  int max_tag = 0;                // 0: none
  int max_value = 0;
  int format = 1;
  int photometric = 1;
  int extra = 0;  // ExtraSamples; 0: none
};

std::string Made(const GrayTiff& tiff) {
  std::string data;
  for (const int sample : tiff.samples) {
    data += Number(sample, tiff.bits > 8 ? 2 : 1);
  }
  std::vector<std::array<int, 3>> entries = {
      {256, 4, static_cast<int>(tiff.samples.size())},
      {257, 4, 1},
      {258, 3, tiff.bits},
      {259, 3, 1},
      {262, 3, tiff.photometric},
      {273, 4, 0},
      {277, 3, 1},
      {278, 3, 1},
      {279, 4, static_cast<int>(data.size())}};
  if (tiff.max_tag == 281) {
    entries.push_back({281, 3, tiff.max_value});
  }
  if (tiff.extra != 0) {
    entries.push_back({338, 3, tiff.extra});
  }
  entries.push_back({339, 3, tiff.format});
  if (tiff.max_tag == 341) {
    entries.push_back({341, 3, tiff.max_value});
  }
  const std::size_t behind = 8 + 2 + 12 * entries.size() + 4;
  std::string bytes = "II*\0\x08\0\0\0"s + Number(std::ssize(entries), 2);
  for (const auto& [tag, type, value] : entries) {
    bytes += Number(tag, 2) + Number(type, 2) + Number(1, 4) +
             Number(tag == 273 ? static_cast<int>(behind) : value, 4);
  }
  return bytes + Number(0, 4) + data;
}

std::string Decoded(const std::string& image) {
  RgbImage decoded;
  DecodeOtherImage(AsBytes(image), 1000, decoded);
  return Flat(decoded.view());
}

// The gray values of the decoded row.
std::vector<int> Grays(const std::string& image) {
  const std::string pixels = Decoded(image);
  std::vector<int> values;
  for (std::size_t at = 0; at < pixels.size(); at += 3) {
    values.push_back(static_cast<unsigned char>(pixels[at]));
  }
  return values;
}

std::string ErrorOf(const std::string& image) {
  return MessageOf<DataError>([&] { (void)Decoded(image); });
}

TEST(SampleDepthTest, ScalesTiffsBySixteenBits) {
  EXPECT_EQ(Grays(Made({.samples = {0, 0x8000, 0xffff}})),
            (std::vector{0, 128, 255}));
  EXPECT_EQ(Grays(Made({.samples = {0, 0, 0}})), (std::vector{0, 0, 0}));
}

TEST(SampleDepthTest, ScalesTiffsByTheirTag) {
  for (const int tag : {281, 341}) {
    for (const int bits : {9, 10, 12, 14, 15}) {
      const int white = (1 << bits) - 1;
      EXPECT_EQ(Grays(Made({.samples = {0, white / 2, white, white + 1},
                            .max_tag = tag,
                            .max_value = white})),
                (std::vector{0, 127, 255, 255}))
          << tag << " " << bits;
    }
  }
}

// The tag may also be the largest value that the image happens to have.
TEST(SampleDepthTest, IgnoresATagThatIsNoDepth) {
  EXPECT_EQ(
      Grays(Made(
          {.samples = {0, 0x8000, 40000}, .max_tag = 281, .max_value = 40000})),
      (std::vector{0, 128, 156}));
}

// Scaled by 16 bits, the image would be black.
TEST(SampleDepthTest, RefusesTwelveBitsWithoutATag) {
  EXPECT_EQ(ErrorOf(Made({.samples = {0, 100, 4095}})),
            "the depth of a 16-bit TIFF is unknown: all samples have at most "
            "12 bits, and there is no MaxSampleValue of 2^n - 1");
}

TEST(SampleDepthTest, RefusesSamplesThatOpencvReadsWronglyOrNotAtAll) {
  for (const int format : {2, 3, 5, 6}) {
    EXPECT_EQ(ErrorOf(Made({.samples = {0, 9, 9}, .format = format})),
              "a TIFF with signed or floating-point samples is not supported");
  }
  EXPECT_THAT(ErrorOf(Made({.samples = {0, 9, 9}, .extra = 2})),
              testing::StartsWith("a TIFF with straight alpha is not"));
  for (const int bits : {2, 4, 10, 12, 14, 24, 32, 64}) {
    EXPECT_EQ(ErrorOf(Made({.bits = bits, .samples = {0, 9, 9}})),
              "a TIFF with " + std::to_string(bits) +
                  "-bit samples is not supported");
  }
  EXPECT_EQ(ErrorOf(Made({.samples = {0, 9, 9},
                          .max_tag = 281,
                          .max_value = 4095,
                          .photometric = 0})),
            "a TIFF in which 0 is white is not supported with a "
            "MaxSampleValue");
}

// A row of three pixels, with masks in 565 and without in 555.
std::string Bmp(bool has_masks, const std::array<int, 3>& pixels) {
  const std::string masks =
      has_masks ? Number(0xf800, 4) + Number(0x7e0, 4) + Number(0x1f, 4) : "";
  const auto head = static_cast<int>(14 + 40 + masks.size());
  std::string bytes = "BM" + Number(head + 8, 4) + Number(0, 4) +
                      Number(head, 4) + Number(40, 4) + Number(3, 4) +
                      Number(1, 4) + Number(1, 2) + Number(16, 2) +
                      Number(has_masks ? 3 : 0, 4) + Number(8, 4) +
                      std::string(16, '\0') + masks;
  for (const int pixel : pixels) {
    bytes += Number(pixel, 2);
  }
  return bytes + Number(0, 2);
}

TEST(SampleDepthTest, SpreadsTheBitsOfSixteenBitBitmaps) {
  EXPECT_EQ(Decoded(Bmp(true, {0, 0xffff, 0x8410})),
            "\0\0\0\xff\xff\xff\x84\x82\x84"s);
  EXPECT_EQ(Decoded(Bmp(false, {0, 0x7fff, 0x4210})),
            "\0\0\0\xff\xff\xff\x84\x84\x84"s);
}

// The first segment of a codestream, with the bits - 1 of two components.
std::string Codestream(int first, int second) {
  return "\xff\x4f\xff\x51\0\x2c\0\0"s + Number(0x20000000, 4) +
         Number(0x20000000, 4) + std::string(24, '\0') + "\0\2"s +
         static_cast<char>(first) + "\1\1" + static_cast<char>(second) + "\1\1";
}

TEST(SampleDepthTest, RefusesJpeg2000OfOtherDepths) {
  const auto error = [](int first, int second) {
    return MessageOf<DataError>([&] {
      static_cast<void>(ReadSampleDepth(AsBytes(Codestream(first, second))));
    });
  };
  for (const int depth : {7, 9, 11, 15}) {
    EXPECT_EQ(error(depth, depth), "");
  }
  for (const auto& [first, second] :
       {std::pair(3, 3), std::pair(7, 11), std::pair(0x87, 0x87),
        std::pair(16, 16)}) {
    EXPECT_EQ(error(first, second),
              "a JPEG 2000 image is supported with unsigned samples of 8 to 16 "
              "bits, the same in all components");
  }
}

using Values = std::vector<std::int64_t>;

// A directory with one entry, whose values are in place or behind it.
std::string Tiff(int tag, int type, int bytes, const Values& values,
                 bool big_endian) {
  constexpr int kBehind = 8 + 2 + 12;
  std::string data;
  for (const std::int64_t value : values) {
    data += Number(value, bytes, big_endian);
  }
  const bool in_place = data.size() <= 4;
  std::string entry = Number(tag, 2, big_endian) + Number(type, 2, big_endian) +
                      Number(std::ssize(values), 4, big_endian);
  entry += in_place ? data + std::string(4 - data.size(), '\0')
                    : Number(kBehind, 4, big_endian);
  return (big_endian ? "MM\0*"s : "II*\0"s) + Number(8, 4, big_endian) +
         Number(1, 2, big_endian) + entry + (in_place ? "" : data);
}

TEST(TiffDirectoryTest, ReadsEveryIntegerType) {
  for (const auto& [type, bytes] :
       {std::pair(1, 1), std::pair(3, 2), std::pair(4, 4), std::pair(6, 1),
        std::pair(8, 2), std::pair(9, 4), std::pair(13, 4), std::pair(16, 8),
        std::pair(17, 8)}) {
    for (const bool big_endian : {false, true}) {
      for (const Values& values : {Values{7}, {1, 2, 3}, {1, 2, 3, 4, 5}}) {
        const std::string tiff = Tiff(300, type, bytes, values, big_endian);
        EXPECT_EQ(TiffDirectory(AsBytes(tiff)).Integers(300), values)
            << "type " << type;
        EXPECT_TRUE(TiffDirectory(AsBytes(tiff)).Integers(301).empty());
      }
    }
  }
}

TEST(TiffDirectoryTest, LeavesOtherTypes) {
  for (const int type : {0, 2, 5, 7, 11, 99}) {
    const std::string tiff = Tiff(300, type, 1, {7}, false);
    EXPECT_TRUE(TiffDirectory(AsBytes(tiff)).Integers(300).empty()) << type;
  }
}

TEST(TiffDirectoryTest, ReadsNothingBeyondTheEnd) {
  const std::string tiff = Tiff(300, 4, 4, {1, 2, 3}, true);
  for (std::size_t size = 0; size < tiff.size(); ++size) {
    EXPECT_LT(TiffDirectory(AsBytes(tiff.substr(0, size))).Integers(300).size(),
              3U);
  }
  std::string many = Tiff(300, 1, 1, Values(100, 5), false);
  EXPECT_EQ(TiffDirectory(AsBytes(many)).Integers(300), Values(16, 5));
  for (std::size_t place = 14; place < 18; ++place) {
    many[place] = '\xff';
  }
  EXPECT_EQ(TiffDirectory(AsBytes(many)).Integers(300), Values(16, 5));
}

}  // namespace infeed::sample_depth_test
