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

TEST(JpegHuffmanTest, GroupsAllSymbolsOfALookUp) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  EXPECT_FALSE(table.is_grouped);
  GroupSymbols(table);
  EXPECT_TRUE(table.is_grouped);
  const auto group = [&table](std::uint64_t bits, int count) {
    return table.groups[table.fused.size() +
                        (TopBits(bits, count) >> (64 - FusedTable::kBits))];
  };
  constexpr int kEnd = AcTable::kGroupEnd;
  // 3 and -3, each of 3 bits, advance by 1; then the end, of 2 bits.
  EXPECT_EQ(group(0b011'000'10, 8), (kEnd + 2) << 8 | 8);
  EXPECT_EQ(group(0b011'000'011, 9), 3 << 8 | 9);
  // Nothing follows an end.
  EXPECT_EQ(group(0b10'011'011, 8), kEnd << 8 | 2);
  // What is long begins the next group.
  EXPECT_EQ(group(0b011'1110, 7), 1 << 8 | 3);
  EXPECT_EQ(group(0b1110, 4), kEnd << 8);
  // Sixteen zeros, of 3 bits.
  EXPECT_EQ(group(0b110'110'110'10, 11), (kEnd + 48) << 8 | 11);
}

// So that the advance of a group never looks like one of its end.
TEST(JpegHuffmanTest, GroupsAdvanceByLessThan64) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Spec({1}, {0xF0}), table));  // sixteen zeros: 0
  GroupSymbols(table);
  // In fours they would advance by 64; those of the last bits come first.
  EXPECT_EQ(table.groups[table.fused.size()], 32 << 8 | 2);
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
