#include "preprocess/jpeg/jpeg.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

std::string Decoded(JpegDecoder& decoder, const std::string& jpeg) {
  RgbImage image;
  std::ignore = decoder.ReadHeader(AsBytes(jpeg));
  decoder.Decode(image);
  return Flat(image.view());
}

std::string Decoded(const std::string& jpeg) {
  JpegDecoder decoder;
  return Decoded(decoder, jpeg);
}

// The message of the DataError that decoding ends with. Decodes a good image
// afterwards: the decoder must be usable.
std::string ErrorOf(const std::string& jpeg, const JpegLimits& limits = {}) {
  JpegDecoder decoder(limits);
  const std::string message =
      MessageOf<DataError>([&] { std::ignore = Decoded(decoder, jpeg); });
  const std::string good = TestJpeg({.width = 9, .height = 9});
  EXPECT_EQ(Decoded(decoder, good), Decoded(good));
  return message;
}

// The place of the first marker with the given second byte.
std::size_t FindMarker(const std::string& jpeg, int code) {
  return jpeg.find(std::string{'\xff', static_cast<char>(code)});
}

// Drops every segment with the marker.
std::string WithoutSegments(std::string jpeg, int code) {
  for (std::size_t at = FindMarker(jpeg, code); at != std::string::npos;
       at = FindMarker(jpeg, code)) {
    const auto byte = [&](std::size_t i) {
      return static_cast<unsigned char>(jpeg[at + i]);
    };
    jpeg.erase(at, 2 + byte(2) * 256 + byte(3));
  }
  return jpeg;
}

std::string WithSize(std::string jpeg, int width, int height) {
  const std::size_t frame = FindMarker(jpeg, 0xC0);
  for (const auto& [place, value] : {std::pair{5, height}, {7, width}}) {
    jpeg[frame + place] = static_cast<char>(value >> 8);
    jpeg[frame + place + 1] = static_cast<char>(value);
  }
  return jpeg;
}

// Adobe's inks are inverted.
TEST(JpegDecoderTest, TurnsInksIntoRgb) {
  for (const TestColor color :
       {TestColor::kCmyk, TestColor::kAdobeCmyk, TestColor::kAdobeYcck}) {
    const std::string jpeg = TestJpeg({.color = color});
    const std::string inks = DecodeInks(jpeg);
    const std::string pixels = Decoded(jpeg);
    const int most = color == TestColor::kCmyk ? 255 : 0;
    ASSERT_EQ(pixels.size() / 3, inks.size() / 4);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const int ink = static_cast<unsigned char>(inks[i / 3 * 4 + i % 3]);
      const int black = static_cast<unsigned char>(inks[i / 3 * 4 + 3]);
      ASSERT_EQ(static_cast<unsigned char>(pixels[i]),
                std::abs(most - black) * std::abs(most - ink) / 255);
    }
  }
}

TEST(JpegDecoderTest, ImagesDoNotLendEachOtherTables) {
  JpegDecoder decoder;
  const std::string intact = TestJpeg();
  const std::string other = TestJpeg({.quality = 40, .optimize = true});
  std::ignore = Decoded(decoder, other);
  // Without Huffman tables the standard ones hold, as in motion JPEG.
  EXPECT_EQ(Decoded(decoder, WithoutSegments(intact, 0xC4)), Decoded(intact));
  std::ignore = Decoded(decoder, other);
  EXPECT_THROW(std::ignore = Decoded(decoder, WithoutSegments(intact, 0xDB)),
               DataError);
}

// The DCT of a constant image has one coefficient a block: any scale keeps it.
TEST(JpegDecoderTest, DecodesToEighths) {
  RgbImage gray;
  gray.Resize(35, 17);
  std::fill(gray.pixels().begin(), gray.pixels().end(), std::uint8_t{77});
  const std::string jpeg = EncodeJpeg(gray.view());
  JpegDecoder decoder;
  for (int eighths = 1; eighths <= 8; ++eighths) {
    RgbImage image;
    std::ignore = decoder.ReadHeader(AsBytes(jpeg));
    decoder.DecodeScaled(eighths, image);
    EXPECT_EQ(image.width(), (35 * eighths + 7) / 8);
    EXPECT_EQ(image.height(), (17 * eighths + 7) / 8);
    EXPECT_EQ(Flat(image.view()),
              std::string(image.pixels().size(), static_cast<char>(77)));
  }
}

TEST(JpegDecoderTest, ToleratesWarningsWhenAsked) {
  const std::string jpeg = TestJpeg({.width = 64, .height = 64});
  const std::string cut = jpeg.substr(0, jpeg.size() * 3 / 4);
  EXPECT_THAT(ErrorOf(cut), HasSubstr("Premature end of JPEG file"));
  JpegDecoder decoder({}, JpegWarnings::kTolerated);
  const std::string half = Decoded(decoder, cut);
  EXPECT_THAT(decoder.warning(), HasSubstr("Premature end of JPEG file"));
  const std::string whole = Decoded(decoder, jpeg);
  EXPECT_EQ(decoder.warning(), "");
  EXPECT_EQ(whole, Decoded(jpeg));
  // The rows that were there are as they were.
  EXPECT_EQ(half.substr(0, 64 * 3 * 32), whole.substr(0, 64 * 3 * 32));
  EXPECT_THROW(Decoded(decoder, "no JPEG"), DataError);
}

TEST(JpegDecoderTest, RefusesWhatIsNoSoundJpeg) {
  const std::string jpeg = TestJpeg();
  std::string short_frame = jpeg;
  short_frame[FindMarker(jpeg, 0xC0) + 9] = 2;
  std::string padded = jpeg;  // Of which libjpeg warns.
  padded.insert(padded.size() - 2, 5, '\0');
  for (const auto& [bytes, message] :
       {std::pair{std::string(), "Empty input file"},
        {"garbage", "Not a JPEG file: starts with 0x67 0x61"},
        {jpeg.substr(0, 2) + "\xff\xd9", "JPEG datastream contains no image"},
        {WithSize(jpeg, 65500, 65500),
         "a JPEG of 65500x65500 pixels is over the limit of 178956970"},
        {short_frame, "marker length"},
        {padded, "extraneous bytes before marker 0xd9"}}) {
    EXPECT_THAT(ErrorOf(bytes), HasSubstr(message));
  }
}

TEST(JpegDecoderTest, RefusesATruncatedImageWhereverItEnds) {
  const std::string jpeg = TestJpeg({.width = 24, .height = 24});
  for (std::size_t size = 1; size < jpeg.size(); ++size) {
    EXPECT_NE(ErrorOf(jpeg.substr(0, size)), "") << size;
  }
  EXPECT_EQ(ErrorOf(jpeg.substr(0, jpeg.size() - 20)),
            "Premature end of JPEG file");
}

// A JPEG with bytes behind its start marker, of which libjpeg warns.
std::string WithHeaderWarning(const std::string& jpeg,
                              const std::string& bytes) {
  return jpeg.substr(0, 2) + bytes + jpeg.substr(2);
}

// None of them concerns a pixel.
TEST(JpegDecoderTest, IgnoresWarningsOfTheHeader) {
  using std::string_literals::operator""s;
  const std::string adobe2 = "\xff\xee\0\x0e"s + "Adobe\0\x64\0\0\0\0\2"s;
  const std::string jfif7 = "\xff\xe0\0\x10JFIF\0\7\1\0\0\1\0\1\0\0"s;
  for (const bool progressive : {false, true}) {
    const std::string jpeg =
        TestJpeg({.width = 64, .height = 64, .progressive = progressive});
    for (const std::string& bytes : {"junk"s, adobe2, jfif7}) {
      for (const JpegWarnings warnings :
           {JpegWarnings::kErrors, JpegWarnings::kTolerated}) {
        JpegDecoder decoder({}, warnings);
        EXPECT_EQ(Decoded(decoder, WithHeaderWarning(jpeg, bytes)),
                  Decoded(jpeg));
        EXPECT_EQ(decoder.was_plain(), !progressive);
        EXPECT_EQ(decoder.warning(), "");
      }
    }
    // Warnings of the scan remain errors.
    EXPECT_THAT(
        ErrorOf(WithHeaderWarning(jpeg.substr(0, jpeg.size() / 2), "junk")),
        HasSubstr("Premature end of JPEG file"));
  }
}

TEST(JpegDecoderTest, EachLimitIsInclusive) {
  const std::string jpeg = TestJpeg({.width = 20, .height = 10});
  EXPECT_EQ(ErrorOf(jpeg, {.max_pixels = 200}), "");
  EXPECT_EQ(ErrorOf(jpeg, {.max_pixels = 199}),
            "a JPEG of 20x10 pixels is over the limit of 199");
  const std::string scans = TestJpeg({.progressive = true});
  EXPECT_EQ(ErrorOf(scans, {.max_scans = 10}), "");
  EXPECT_EQ(ErrorOf(scans, {.max_scans = 9}), "more than 9 scans in the JPEG");
  const std::string large =
      TestJpeg({.width = 640, .height = 640, .progressive = true});
  EXPECT_EQ(ErrorOf(large, {.max_memory_bytes = 5000000}), "");
  EXPECT_EQ(ErrorOf(large, {.max_memory_bytes = 500000}),
            "the JPEG needs more memory than its limit");
}

TEST(JpegDecoderTest, NamesTheLimitThatMakesNoSense) {
  const auto message = [](const JpegLimits& limits) {
    return MessageOf<UsageError>([&] { const JpegDecoder decoder(limits); });
  };
  EXPECT_EQ(message({.max_pixels = 0}),
            "JpegLimits::max_pixels must be above 0");
  EXPECT_EQ(message({.max_scans = -1}),
            "JpegLimits::max_scans must be above 0");
  EXPECT_EQ(message({.max_memory_bytes = 0}),
            "JpegLimits::max_memory_bytes must be above 0");
}

TEST(JpegDecoderTest, RowsBelowTheWindowAreNotRead) {
  JpegDecoder decoder;
  RgbImage image;
  const std::string jpeg = TestJpeg({.width = 64, .height = 640});
  const std::string half = jpeg.substr(0, jpeg.size() / 2);
  std::ignore = decoder.ReadHeader(AsBytes(half));
  decoder.DecodeWindow({.y = 100, .x = 10, .height = 50, .width = 20}, image);
  EXPECT_EQ(image.height(), 50);
  std::ignore = decoder.ReadHeader(AsBytes(half));
  EXPECT_THROW(
      decoder.DecodeWindow({.y = 600, .x = 0, .height = 9, .width = 9}, image),
      DataError);
}

TEST(JpegDecoderTest, StaysUsableWhenMoved) {
  JpegDecoder first;
  const std::string jpeg = TestJpeg();
  std::ignore = first.ReadHeader(AsBytes(jpeg));
  JpegDecoder second = std::move(first);
  RgbImage image;
  second.Decode(image);
  EXPECT_EQ(Flat(image.view()), Decoded(jpeg));
}

TEST(JpegDecoderDeathTest, DecodesOnlyAfterAHeader) {
  JpegDecoder decoder;
  RgbImage image;
  EXPECT_DEATH(decoder.Decode(image), "a header is read before each decode");
}

TEST(JpegDecoderDeathTest, WindowsLieInside) {
  JpegDecoder decoder;
  RgbImage image;
  const std::string jpeg = TestJpeg({.width = 8, .height = 8});
  std::ignore = decoder.ReadHeader(AsBytes(jpeg));
  EXPECT_DEATH(decoder.DecodeWindow({0, 1, 8, 8}, image), "lies inside");
}

// The sampling factors of the first component, as in the frame header.
int SamplingOf(const std::string& jpeg, int frame_marker) {
  return jpeg[FindMarker(jpeg, frame_marker) + 11];
}

TEST(EncodeJpegTest, WritesTheKindThatWasAskedFor) {
  const RgbImage image = TestPhotograph(40, 30, 1);
  EXPECT_EQ(SamplingOf(EncodeJpeg(image.view()), 0xC0), 0x22);
  EXPECT_EQ(SamplingOf(EncodeJpeg(image.view(), {.subsample = false}), 0xC0),
            0x11);
  EXPECT_EQ(SamplingOf(EncodeJpeg(image.view(), {.progressive = true}), 0xC2),
            0x22);
}

TEST(EncodeJpegTest, QualityDecidesTheSizeUpToManyBlocksOfOutput) {
  const RgbImage image = TestPhotograph(640, 480, 1);
  const std::string jpeg = EncodeJpeg(image.view());
  EXPECT_GT(jpeg.size(), 2 * 65536U);
  EXPECT_EQ(Decoded(jpeg).size(), 640U * 480U * 3U);
  EXPECT_GT(EncodeJpeg(image.view(), {.quality = 95}).size(),
            2 * EncodeJpeg(image.view(), {.quality = 50}).size());
}

TEST(EncodeJpegTest, ReadsRowsByTheirStride) {
  const RgbImage image = TestPhotograph(40, 30, 1);
  RgbImage part;
  part.Resize(16, 8);
  const RgbView window = image.view({.y = 5, .x = 7, .height = 8, .width = 16});
  for (int y = 0; y < 8; ++y) {
    std::copy_n(window.row(y), 48, part.row(y));
  }
  EXPECT_EQ(EncodeJpeg(window), EncodeJpeg(part.view()));
}

TEST(EncodeJpegTest, RefusesQualitiesAndSizesThatJpegLacks) {
  EXPECT_EQ(MessageOf<UsageError>([] {
              std::ignore =
                  EncodeJpeg(TestPhotograph(4, 4, 1).view(), {.quality = 101});
            }),
            "JpegEncodeOptions::quality must be in 1..100, not 101");
  EXPECT_EQ(MessageOf<DataError>([] {
              std::ignore = EncodeJpeg(TestPhotograph(65501, 1, 1).view());
            }),
            "Maximum supported image dimension is 65500 pixels");
}

}  // namespace
}  // namespace infeed
