#include "preprocess/jpeg_entropy/seek_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// An index as a photograph's is, of no image in particular: runs of some
// hundred bits a MCU, predictors that wander.
JpegSeekIndex MadeSeekIndex(int mcus_per_row, int mcu_rows, int run,
                            int components = 3) {
  JpegSeekIndex index = {
      .mcus_per_row = mcus_per_row, .mcu_rows = mcu_rows, .run = run};
  std::mt19937 random(static_cast<std::uint32_t>(mcus_per_row * mcu_rows));
  std::uint32_t bit = 5000;
  SeekEntry entry;
  while (index.entries.size() < index.entry_count()) {
    entry.byte = bit / 8;
    entry.bit = static_cast<std::uint8_t>(bit % 8);
    index.entries.push_back(entry);
    bit +=
        1 + static_cast<std::uint32_t>(std::min(run, 100)) * (random() % 400);
    for (int i = 0; i < components; ++i) {
      auto& dc = entry.dc[static_cast<std::size_t>(i)];
      dc = static_cast<std::int16_t>(dc / 2 + static_cast<int>(random() % 200) -
                                     100);
    }
  }
  return index;
}

JpegSeekIndex Parsed(const std::string& bytes) {
  JpegSeekIndex index;
  EXPECT_TRUE(ParseSeekIndex(AsBytes(bytes), index));
  return index;
}

bool Parses(const std::string& bytes) {
  JpegSeekIndex index;
  return ParseSeekIndex(AsBytes(bytes), index);
}

// One MCU, entries at bits 10 and 30.
JpegSeekIndex SmallIndex() {
  return {.mcus_per_row = 1,
          .mcu_rows = 1,
          .run = 1,
          .entries = {{.byte = 1, .bit = 2, .dc = {0, 0, 0}},
                      {.byte = 3, .bit = 6, .dc = {5, -3, 0}}}};
}

TEST(JpegSeekIndexTest, ComesBackFromItsBytes) {
  std::vector<JpegSeekIndex> indexes = {MadeSeekIndex(8192, 8192, 8192)};
  for (const int run : {1, 2, 7, 8, 40, 41}) {
    indexes.push_back(MadeSeekIndex(41, 17, run, 1));
    indexes.push_back(MadeSeekIndex(41, 17, run, 3));
  }
  // Of the first rows alone.
  for (const int rows : {1, 2, 16}) {
    JpegSeekIndex index = MadeSeekIndex(41, 17, 41);
    index.entries.resize(index.entry_count(rows));
    EXPECT_FALSE(index.is_complete());
    EXPECT_EQ(index.covered_rows(), rows);
    indexes.push_back(index);
  }
  // The farthest places and predictors.
  JpegSeekIndex far = SmallIndex();
  far.entries[0].dc = {-32768, 32767, -32768};
  far.entries[1] = {.byte = std::numeric_limits<std::uint32_t>::max(),
                    .bit = 7,
                    .dc = {32767, -32768, 32767}};
  indexes.push_back(far);
  for (const JpegSeekIndex& index : indexes) {
    EXPECT_EQ(Parsed(SerializeSeekIndex(index)), index)
        << index.run << " " << index.entries.size();
  }
}

TEST(JpegSeekIndexTest, CoversAllRowsOrSaysHowMany) {
  // Two rows of an MCU, of which one is covered.
  const std::string partial("\x02\x01\x01\x02\x01\x01\x05\0\x01\0", 10);
  EXPECT_TRUE(Parses(partial));
  for (const char rows : {'\0', '\x02', '\x7F'}) {
    std::string bytes = partial;
    bytes[5] = rows;
    EXPECT_FALSE(Parses(bytes)) << int{rows};
  }
  // Rows of two MCUs, in runs of one.
  EXPECT_FALSE(
      Parses(std::string("\x02\x01\x02\x02\x01\x01\x05\0\x01\0\x01\0", 12)));
}

TEST(JpegSeekIndexTest, HasTheBytesOfItsFormat) {
  EXPECT_EQ(SerializeSeekIndex(SmallIndex()),
            std::string("\x01\x03\x01\x01\x01\x0A\0\0\0\x14\x0A\x05\0", 13));
}

TEST(JpegSeekIndexTest, LeavesOutPredictorsThatAreAlways0) {
  const JpegSeekIndex gray = MadeSeekIndex(40, 30, 40, 1);
  const JpegSeekIndex colour = MadeSeekIndex(40, 30, 40, 3);
  EXPECT_LT(SerializeSeekIndex(gray).size() + 30 * 2,
            SerializeSeekIndex(colour).size());
}

TEST(JpegSeekIndexTest, IsNotParsedWhereBytesAreMissingOrLeft) {
  const std::string bytes = SerializeSeekIndex(MadeSeekIndex(9, 3, 4));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Parses(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(Parses(bytes + '\0'));
}

TEST(JpegSeekIndexTest, IsNotParsedWithAnotherVersionOrOddSizes) {
  // Version, components, MCUs a row, rows, run.
  for (const std::size_t place : {0, 1, 2, 3, 4}) {
    for (const char value : {'\0', '\x02', '\x04', '\x7F', '\x80', '\xFF'}) {
      std::string bytes = SerializeSeekIndex(SmallIndex());
      bytes[place] = value;
      EXPECT_FALSE(Parses(bytes)) << place << " " << int{value};
    }
  }
}

TEST(JpegSeekIndexTest, AsksForNoMoreMemoryThanItsBytesFill) {
  // 8192 x 8192 MCUs with a run of 1, and no entries.
  std::string bytes("\x01\x01\x80\x40\x80\x40\x01", 7);
  EXPECT_FALSE(Parses(bytes));
  bytes.append(1000, '\x01');
  EXPECT_FALSE(Parses(bytes));
  // 8193 MCUs are not in a row of any JPEG.
  EXPECT_FALSE(
      Parses(std::string("\x01\x01\x81\x40\x01\x81\x40\x05\0\x05\0", 11)));
  EXPECT_TRUE(
      Parses(std::string("\x01\x01\x80\x40\x01\x80\x40\x05\0\x05\0", 11)));
}

TEST(JpegSeekIndexTest, RefusesPlacesThatDoNotAscendOrAreTooFar) {
  const std::string sizes("\x01\x01\x01\x01\x01", 5);
  EXPECT_TRUE(Parses(sizes + std::string("\x05\0\x01\0", 4)));
  EXPECT_FALSE(Parses(sizes + std::string("\0\0\x01\0", 4)));
  EXPECT_FALSE(Parses(sizes + std::string("\x05\0\0\0", 4)));
  // 2^35 - 1 is the last bit of a JPEG, and 5 bytes are all a number has.
  EXPECT_TRUE(Parses(sizes + std::string("\x01\0\xFE\xFF\xFF\xFF\x7F\0", 8)));
  EXPECT_FALSE(Parses(sizes + std::string("\x01\0\xFF\xFF\xFF\xFF\x7F\0", 8)));
  EXPECT_FALSE(
      Parses(sizes + std::string("\x01\0\x81\x80\x80\x80\x80\0\0", 9)));
}

TEST(JpegSeekIndexTest, RefusesPredictorsThatAreNot16Bits) {
  const std::string sizes("\x01\x01\x01\x01\x01\x05", 6);
  EXPECT_TRUE(Parses(sizes + std::string("\xFE\xFF\x03\x01\0", 5)));
  EXPECT_FALSE(Parses(sizes + std::string("\x80\x80\x04\x01\0", 5)));  // 32768
  EXPECT_FALSE(Parses(sizes + std::string("\xFE\xFF\x03\x01\x02", 5)));
}

TEST(JpegSeekIndexTest, IsAscendingAndWholeWhateverTheBytes) {
  const std::string good = SerializeSeekIndex(MadeSeekIndex(33, 20, 8));
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    JpegSeekIndex index;
    if (ParseSeekIndex(AsBytes(bytes), index)) {
      ++parsed;
      ASSERT_EQ(Parsed(SerializeSeekIndex(index)), index);
    }
  }
  EXPECT_GT(parsed, 1000);
}

}  // namespace
}  // namespace infeed
