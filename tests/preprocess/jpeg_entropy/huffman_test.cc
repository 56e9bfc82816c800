#include "preprocess/jpeg_entropy/huffman.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include <gtest/gtest.h>

namespace infeed {
namespace {

HuffmanSpec Spec(std::initializer_list<int> counts,
                 std::initializer_list<int> values) {
  HuffmanSpec spec;
  spec.defined = true;
  std::copy(counts.begin(), counts.end(), spec.counts.begin() + 1);
  std::copy(values.begin(), values.end(), spec.values.begin());
  return spec;
}

// Codes 0, 10, 110, 1110 and one of 16 bits.
HuffmanSpec Small() {
  return Spec({1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
              {0x02, 0x00, 0xF0, 0x4B, 0x1F});
}

std::uint64_t TopBits(std::uint64_t bits, int count) {
  return bits << (64 - count);
}

std::uint32_t FusedEntry(const FusedTable& table, std::uint64_t bits) {
  return table.fused[bits >> (64 - FusedTable::kBits)];
}

constexpr std::uint32_t Entry(int value, std::uint32_t advance, int bits) {
  return advance << 24 | (static_cast<std::uint32_t>(value) & 0xFFFF) << 8 |
         static_cast<std::uint32_t>(bits);
}

TEST(JpegHuffmanTest, FusesCodeAndValue) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  // Size 2: 00 is -3, 01 -2, 10 2, 11 3 (T.81, table F.2).
  EXPECT_EQ(FusedEntry(table, TopBits(0b000, 3)), Entry(-3, 1, 3));
  EXPECT_EQ(FusedEntry(table, TopBits(0b001, 3)), Entry(-2, 1, 3));
  EXPECT_EQ(FusedEntry(table, TopBits(0b010, 3)), Entry(2, 1, 3));
  EXPECT_EQ(FusedEntry(table, TopBits(0b011, 3)), Entry(3, 1, 3));
  EXPECT_EQ(FusedEntry(table, TopBits(0b10, 2)),
            Entry(0, FusedTable::kEndAdvance, 2));
  EXPECT_EQ(FusedEntry(table, TopBits(0b110, 3)), Entry(0, 16, 3));
}

TEST(JpegHuffmanTest, FindsLongSymbols) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  const auto find = [&table](std::uint64_t bits) {
    EXPECT_EQ(FusedEntry(table, bits) & 255, 0U);
    const LongResult result = LongSymbol(table, FusedEntry(table, bits), bits);
    EXPECT_EQ(result.bits, result.entry & 255);
    return result.entry;
  };
  EXPECT_EQ(find(TopBits(0b1110'11111111111, 15)), Entry(2047, 5, 15));
  EXPECT_EQ(find(TopBits(0b1110'00000000000, 15)), Entry(-2047, 5, 15));
  // The code behind 1110 at 16 bits, and 15 value bits.
  EXPECT_EQ(find(TopBits(0b1111'0000'0000'0000'100000000000000, 31)),
            Entry(16384, 2, 31));
  EXPECT_EQ(find(~std::uint64_t{0}), 0U);
}

TEST(JpegHuffmanTest, PairsWhatFitsOneLookUp) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  EXPECT_FALSE(table.is_paired);
  PairSymbols(table);
  EXPECT_TRUE(table.is_paired);
  const auto pair = [&table](std::uint64_t bits, int count) {
    return table.pairs[TopBits(bits, count) >> (64 - FusedTable::kBits)];
  };
  const auto words = [](std::uint64_t first, std::uint64_t second,
                        std::uint32_t low) {
    return first << 48 | second << 32 | low;
  };
  // 3 and -3: each advances by 1 with 3 bits.
  EXPECT_EQ(pair(0b011'000, 6), words(3, 0xFFFD, 0x02'01'03'06));
  // 2, then the end.
  EXPECT_EQ(pair(0b010'10, 5), words(2, 0, 0x51'01'03'05));
  // Nothing follows an end, nor pairs with what is long.
  EXPECT_EQ(pair(0b10'011, 5), words(0, 0, 0x50'50'02'02));
  EXPECT_EQ(pair(0b011'1110, 7), words(3, 3, 0x01'01'03'03));
  EXPECT_EQ(pair(0b1110, 4), FusedEntry(table, TopBits(0b1110, 4)));
}

TEST(JpegHuffmanTest, DcDifferencesAdvanceByOne) {
  DcTable table;
  ASSERT_TRUE(BuildDcTable(Spec({1, 1}, {0, 1}), table));
  EXPECT_EQ(FusedEntry(table, 0), Entry(0, 1, 1));
  EXPECT_EQ(FusedEntry(table, TopBits(0b100, 3)), Entry(-1, 1, 3));
}

// As libjpeg does, a size of zero ends a block whatever the run.
TEST(JpegHuffmanTest, AnyRunOfNothingEndsABlock) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Spec({1}, {0x30}), table));
  EXPECT_EQ(FusedEntry(table, 0), Entry(0, FusedTable::kEndAdvance, 1));
}

TEST(JpegHuffmanTest, RefusesWhatLibjpegRefuses) {
  AcTable ac;
  DcTable dc;
  EXPECT_FALSE(BuildAcTable({}, ac));                    // not defined
  EXPECT_FALSE(BuildAcTable(Spec({2}, {1, 2}), ac));     // a code of all ones
  EXPECT_FALSE(BuildAcTable(Spec({3}, {1, 2, 3}), ac));  // too many codes
  EXPECT_FALSE(BuildDcTable(Spec({1}, {16}), dc));       // no such category
  EXPECT_TRUE(BuildAcTable(Spec({1, 1}, {16, 17}), ac));
  // 254 and 3 codes: more than there are symbols.
  EXPECT_FALSE(BuildAcTable(Spec({0, 0, 0, 0, 0, 0, 0, 254, 3}, {}), ac));
}

}  // namespace
}  // namespace infeed
