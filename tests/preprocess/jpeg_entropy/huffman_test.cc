#include "preprocess/jpeg_entropy/huffman.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/support/each_target.h"

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

template <int kBits>
std::uint32_t LookUp(const FusedTable<kBits>& table, std::uint64_t bits) {
  return table.fused[bits >> (64 - kBits)];
}

constexpr std::uint32_t Entry(int value, std::uint32_t advance, int bits) {
  return advance << 24 | (static_cast<std::uint32_t>(value) & 0xFFFF) << 8 |
         static_cast<std::uint32_t>(bits);
}

TEST(JpegHuffmanTest, FusesCodeAndValue) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  // Size 2: 00 is -3, 01 -2, 10 2, 11 3 (T.81, table F.2).
  EXPECT_EQ(LookUp(table, TopBits(0b000, 3)), Entry(-3, 1, 3));
  EXPECT_EQ(LookUp(table, TopBits(0b001, 3)), Entry(-2, 1, 3));
  EXPECT_EQ(LookUp(table, TopBits(0b010, 3)), Entry(2, 1, 3));
  EXPECT_EQ(LookUp(table, TopBits(0b011, 3)), Entry(3, 1, 3));
  EXPECT_EQ(LookUp(table, TopBits(0b10, 2)),
            Entry(0, FusedEntry::kEndAdvance, 2));
  EXPECT_EQ(LookUp(table, TopBits(0b110, 3)), Entry(0, 16, 3));
}

// A code with lengths and symbols drawn at random.
HuffmanSpec RandomSpec(SampleRandom& random) {
  HuffmanSpec spec;
  spec.defined = true;
  std::uint32_t free = 1;  // codes of this length that are not taken
  std::uint32_t symbols = 0;
  for (std::uint32_t bits = 1; bits <= 16; ++bits) {
    free *= 2;
    const std::uint32_t most = std::min({free - 1, 256 - symbols, 40U});
    const std::uint32_t count =
        random.Below(3) == 0 ? 0 : random.Below(most + 1);
    spec.counts[bits] = static_cast<std::uint8_t>(count);
    free -= count;
    symbols += count;
  }
  std::iota(spec.values.begin(), spec.values.end(), 0);
  for (std::uint32_t i = 256; i > 1; --i) {
    std::swap(spec.values[i - 1], spec.values[random.Below(i)]);
  }
  return spec;
}

// The entry of the first symbol of some bits by T.81's way of decoding, a bit
// of the code at a time.
std::uint32_t EntryTwin(const HuffmanSpec& spec, std::uint32_t bits,
                        int count) {
  std::uint32_t first = 0;  // code of this length
  std::size_t index = 0;
  for (int length = 1; length <= count; ++length) {
    const std::uint32_t code = bits >> (count - length);
    if (code - first < spec.counts[length]) {
      const std::uint32_t symbol = spec.values[index + code - first];
      const int size = static_cast<int>(symbol & 15);
      const int spare = count - length - size;
      if (spare < 0) {
        return (192 + (symbol >> 4)) << 24 | symbol % 16 << 16 |
               static_cast<std::uint32_t>(length) << 8;
      }
      int value = static_cast<int>(bits >> spare) & ((1 << size) - 1);
      if (size > 0 && value < 1 << (size - 1)) {
        value += 1 - (1 << size);
      }
      const bool is_end = size == 0 && symbol != 0xF0;
      return Entry(value, is_end ? 80 : (symbol >> 4) + 1, length + size);
    }
    first = (first + spec.counts[length]) * 2;
    index += spec.counts[length];
  }
  return 192U << 24 | static_cast<std::uint32_t>(count + 1) << 16;
}

// EntryTwin() with the end of a block behind a value.
std::uint32_t EntryWithEndTwin(const HuffmanSpec& spec, std::uint32_t bits,
                               int count) {
  const std::uint32_t entry = EntryTwin(spec, bits, count);
  const auto used = static_cast<int>(entry & 255);
  const bool is_value = used > 0 && (entry >> 8 & 0xFFFF) != 0;
  if (!is_value || used == count) {
    return entry;
  }
  const int left = count - used;
  HuffmanSpec end_only = spec;  // no other symbol looks like the end
  std::replace_if(
      end_only.values.begin(), end_only.values.end(),
      [](std::uint8_t symbol) { return symbol % 16 == 0 && symbol != 0; },
      std::uint8_t{0xF0});
  const std::uint32_t next =
      EntryTwin(end_only, bits & ((1U << left) - 1), left);
  return next >> 24 == 80 ? entry + (80U << 24 | 128) + (next & 255) : entry;
}

TEST(JpegHuffmanTest, FusesAnyCodeOnEachTarget) {
  OnEachSimdTarget([] {
    SampleRandom random({}, RandomStream::kMadeData);
    for (int i = 0; i < 50; ++i) {
      const HuffmanSpec spec = RandomSpec(random);
      AcTable table;
      ASSERT_TRUE(BuildAcTable(spec, table));
      for (std::uint32_t bits = 0; bits < AcTable::kEntries; ++bits) {
        ASSERT_EQ(table.fused[bits],
                  EntryWithEndTwin(spec, bits, AcTable::kBits))
            << "code " << i << " bits " << bits;
      }
    }
  });
}

TEST(JpegHuffmanTest, FindsLongSymbols) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Small(), table));
  const auto find = [&table](std::uint64_t bits) {
    EXPECT_EQ(LookUp(table, bits) & 255, 0U);
    const LongResult result =
        LongSymbol(table.codes, LookUp(table, bits), bits);
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
    return table.groups[AcTable::kEntries +
                        (TopBits(bits, count) >> (64 - AcTable::kBits))];
  };
  constexpr int kEnd = AcTable::kGroupEnd;
  // 3 and -3, each of 3 bits, advance by 1; then the end, of 2 bits.
  EXPECT_EQ(group(0b011'000'10, 8), (kEnd + 2) << 8 | 8);
  EXPECT_EQ(group(0b011'000'011'000, 12), 4 << 8 | 12);
  // Nothing follows an end.
  EXPECT_EQ(group(0b10'011'011, 8), kEnd << 8 | 2);
  // A long symbol begins the next group.
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
  EXPECT_EQ(table.groups[AcTable::kEntries], 48 << 8 | 3);
}

TEST(JpegHuffmanTest, DcDifferencesAdvanceByOne) {
  DcTable table;
  ASSERT_TRUE(BuildDcTable(Spec({1, 1}, {0, 1}), table));
  EXPECT_EQ(LookUp(table, 0), Entry(0, 1, 1));
  EXPECT_EQ(LookUp(table, TopBits(0b100, 3)), Entry(-1, 1, 3));
}

// As libjpeg does, a size of zero ends a block whatever the run.
TEST(JpegHuffmanTest, AnyRunOfNothingEndsABlock) {
  AcTable table;
  ASSERT_TRUE(BuildAcTable(Spec({1}, {0x30}), table));
  EXPECT_EQ(LookUp(table, 0), Entry(0, FusedEntry::kEndAdvance, 1));
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
