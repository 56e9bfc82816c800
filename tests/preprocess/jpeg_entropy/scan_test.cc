#include "preprocess/jpeg_entropy/scan.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_jpeg.h"

namespace infeed::scan_test {

using std::string_literals::operator""s;

std::optional<JpegScan> Scan(const std::string& jpeg) {
  return ReadPlainJpeg(AsBytes(jpeg));
}

// Where a segment begins.
std::size_t Find(const std::string& jpeg, char code) {
  return jpeg.find(std::string{'\xFF', code});
}

std::string With(std::string jpeg, std::size_t at, char value) {
  jpeg.at(at) = value;
  return jpeg;
}

std::string WithSegment(std::string jpeg, char code, const std::string& data) {
  return jpeg.insert(
      2, std::string{'\xFF', code, '\0', static_cast<char>(data.size() + 2)} +
             data);
}

TEST(JpegScanTest, ReadsSizesAndSampling) {
  const auto scan = Scan(
      TestJpeg({.width = 37, .height = 21, .subsampling = Subsampling::k420}));
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->width, 37);
  EXPECT_EQ(scan->height, 21);
  EXPECT_EQ(scan->component_count, 3);
  EXPECT_EQ(scan->color, JpegColor::kYcc);
  EXPECT_EQ(scan->mcu_width(), 16);
  EXPECT_EQ(scan->mcus_per_row, 3);
  EXPECT_EQ(scan->mcu_rows, 2);
  EXPECT_EQ(scan->components[0].width, 37);
  EXPECT_EQ(scan->components[1].width, 19);
  EXPECT_EQ(scan->components[2].height, 11);
  EXPECT_EQ(scan->restart_interval, 0);
}

TEST(JpegScanTest, TakesThePlainKinds) {
  for (const Subsampling sampling : {Subsampling::k444, Subsampling::k422,
                                     Subsampling::k420, Subsampling::k440}) {
    EXPECT_TRUE(Scan(TestJpeg({.subsampling = sampling})));
  }
  const auto gray = Scan(TestJpeg({.color = TestColor::kGray}));
  ASSERT_TRUE(gray);
  EXPECT_EQ(gray->color, JpegColor::kGray);
  EXPECT_TRUE(Scan(TestJpeg({.optimize = true})));
  EXPECT_EQ(Scan(TestJpeg({.restart_interval = 3}))->restart_interval, 3);
}

TEST(JpegScanTest, LeavesTheOtherKinds) {
  EXPECT_FALSE(Scan(TestJpeg({.subsampling = Subsampling::k411})));
  EXPECT_FALSE(Scan(TestJpeg({.color = TestColor::kCmyk})));
  EXPECT_FALSE(Scan(TestJpeg({.color = TestColor::kAdobeYcck})));
  EXPECT_FALSE(Scan(TestJpeg({.progressive = true})));
  EXPECT_FALSE(Scan(TestJpeg({.separate_scans = true})));
  EXPECT_FALSE(Scan(TestJpeg({.arithmetic = true})));
}

TEST(JpegScanTest, FindsTheFirstCodedByte) {
  const std::string jpeg = TestJpeg();
  const std::size_t scan = Find(jpeg, '\xDA');
  EXPECT_EQ(Scan(jpeg)->entropy_begin, scan + 2 + 12);
}

TEST(JpegScanTest, ReadsTables) {
  const std::string jpeg = TestJpeg();
  const auto scan = Scan(jpeg);
  const std::size_t table = Find(jpeg, '\xDB') + 5;
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(scan->quantisers[0][i],
              static_cast<unsigned char>(jpeg[table + i]));
  }
  // The standard's luminance table: no code of one bit, one of two bits.
  EXPECT_EQ(scan->dc_tables[0].counts[1], 0);
  EXPECT_EQ(scan->dc_tables[0].counts[2], 1);
  EXPECT_EQ(scan->ac_tables[0].counts[2], 2);
  EXPECT_EQ(scan->ac_tables[0].values[0], 1);
  EXPECT_FALSE(scan->ac_tables[2].defined);
}

// A JPEG with Adobe's marker in JFIF's place.
std::string WithAdobe(char transform) {
  std::string jpeg = TestJpeg();
  const std::size_t jfif = Find(jpeg, '\xE0');
  jpeg.erase(jfif, 18);
  return WithSegment(jpeg, '\xEE', "Adobe\0\x64\0\0\0\0"s + transform);
}

TEST(JpegScanTest, ChoosesTheColourAsLibjpegDoes) {
  EXPECT_EQ(Scan(WithAdobe(0))->color, JpegColor::kRgb);
  EXPECT_EQ(Scan(WithAdobe(1))->color, JpegColor::kYcc);
  EXPECT_EQ(Scan(WithAdobe(2))->color, JpegColor::kYcc);
  std::string letters = TestJpeg();
  letters.erase(Find(letters, '\xE0'), 18);
  const std::size_t frame = Find(letters, '\xC0') + 10;
  const std::size_t scan = Find(letters, '\xDA') + 5;
  for (int i = 0; i < 3; ++i) {
    letters[frame + 3 * i] = "RGB"[i];
    letters[scan + 2 * i] = "RGB"[i];
  }
  EXPECT_EQ(Scan(letters)->color, JpegColor::kRgb);
}

TEST(JpegScanTest, TakesHeadersThatLibjpegWarnsOf) {
  const std::string jpeg = TestJpeg();
  const std::size_t jfif = Find(jpeg, '\xE0');
  EXPECT_TRUE(Scan(With(jpeg, jfif + 9, 2)));  // JFIF 2.0
  const auto scan = Scan(jpeg.substr(0, jfif) + "x" + jpeg.substr(jfif));
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->entropy_begin, Scan(jpeg)->entropy_begin + 1);
}

TEST(JpegScanTest, LeavesScansThatLibjpegWarnsOf) {
  const std::string jpeg = TestJpeg();
  const std::size_t scan = Find(jpeg, '\xDA');
  EXPECT_FALSE(Scan(With(jpeg, scan + 12, 62)));     // Not all coefficients.
  EXPECT_FALSE(Scan(With(jpeg, scan + 6, '\x22')));  // A table that is missing.
}

TEST(JpegScanTest, LeavesEveryCutHeader) {
  const std::string jpeg = TestJpeg();
  const std::size_t end = Scan(jpeg)->entropy_begin;
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_FALSE(Scan(jpeg.substr(0, size))) << size;
  }
  EXPECT_TRUE(Scan(jpeg.substr(0, end)));
}

TEST(JpegScanTest, PassesOverOtherSegments) {
  EXPECT_TRUE(Scan(WithSegment(TestJpeg(), '\xFE', "a comment")));
  EXPECT_TRUE(Scan(WithSegment(TestJpeg(), '\xE1', "Exif")));
  EXPECT_FALSE(Scan(WithSegment(TestJpeg(), '\xDC', "\0\1"s)));  // DNL
}

const std::string kStart = "\xff\xd8";
const std::string kTable = "\xff\xdb\0\3q"s;
const std::string kComment = "\xff\xfe\0\2"s;

// The codes of the markers.
std::vector<int> CodesOf(const std::string& jpeg) {
  JpegHeader header(AsBytes(jpeg));
  std::vector<int> codes;
  while (const auto marker = header.Next()) {
    codes.push_back(marker->code);
  }
  return codes;
}

TEST(JpegHeaderTest, ReadsSegmentsInOrder) {
  const std::string jpeg = kStart + kTable + kComment + "rest";
  JpegHeader header(AsBytes(jpeg));
  const auto table = header.Next();
  ASSERT_TRUE(table);
  EXPECT_EQ(table->code, 0xdb);
  ASSERT_EQ(table->data.size(), 1U);
  EXPECT_EQ(table->data[0], std::byte{'q'});
  const auto comment = header.Next();
  ASSERT_TRUE(comment);
  EXPECT_EQ(comment->code, 0xfe);
  EXPECT_TRUE(comment->data.empty());
  EXPECT_EQ(header.position(), jpeg.size() - 4);
  EXPECT_FALSE(header.Next());
}

// As libjpeg does, with a warning.
TEST(JpegHeaderTest, SkipsBytesThatAreNoMarker) {
  for (const std::string& bytes :
       {"x"s, "abcdef"s, "\0"s, "\xff"s, "\xff\xff\xff"s, "\xff\0"s,
        "\xff\xff\0"s, "\xff\0\xff\0x"s}) {
    EXPECT_EQ(CodesOf(kStart + bytes + kTable + bytes + kComment),
              (std::vector<int>{0xdb, 0xfe}));
  }
}

TEST(JpegHeaderTest, EndsWhereThereIsNoWholeSegment) {
  EXPECT_TRUE(CodesOf("").empty());
  EXPECT_TRUE(CodesOf("\xff").empty());
  EXPECT_TRUE(CodesOf("no" + kTable).empty());
  EXPECT_TRUE(CodesOf(kStart + "\xff\xfe\0\1"s + kComment).empty());
  const std::string jpeg = kStart + kTable;
  for (std::size_t size = 0; size < jpeg.size(); ++size) {
    EXPECT_TRUE(CodesOf(jpeg.substr(0, size)).empty()) << size;
  }
  for (const int code : {0x01, 0xd0, 0xd7, 0xd8, 0xd9}) {
    const std::string alone = "\xff"s + static_cast<char>(code);
    EXPECT_TRUE(CodesOf(kStart + alone + kComment + kComment).empty()) << code;
  }
}

}  // namespace infeed::scan_test
