#pragma once

#include <array>
#include <cstdint>

#include "preprocess/jpeg_entropy/scan.h"

namespace infeed {

// A Huffman table for the hot loop. A look-up with the next kBits bits gives a
// symbol whole, code and value bits together, where that many bits hold it:
//   advance << 24 | value << 8 | bits used
// with the value already signed (16 bits), and advance what the coefficient's
// place grows by: 1 + run, 16 for sixteen zeros, kEndAdvance for the end of a
// block: so much that it differs from every run past a block's end. Where only
// the code is within kBits, or not even that (code bits 0), a look-up gives
//   kEndAdvance << 24 | run << 20 | value bits << 16 | code bits << 8
// and LongSymbol() the entry.
struct FusedTable {
  static constexpr int kBits = 11;
  static constexpr std::uint32_t kEndAdvance = 80;
  static constexpr std::uint32_t kLong = kEndAdvance << 24;
  // No symbol: 64 bits used are none where shifts count modulo 64.
  static constexpr std::uint32_t kStop = 64;

  alignas(64) std::array<std::uint32_t, 1 << kBits> fused{};
  // For longer codes: bits below limits[n] << (16 - n) have a code of n bits at
  // most, whose symbol is values[code + offsets[n]].
  std::array<std::uint32_t, 18> limits{};
  std::array<std::uint32_t, 17> offsets{};  // modulo 2^32
  std::array<std::uint8_t, 256> values{};
  // The advance of a symbol without value bits, other than sixteen zeros.
  std::uint32_t no_value_advance = 0;
};
struct AcTable : FusedTable {
  // Two symbols a look-up, where kBits hold both:
  //   value << 48 | second value << 32 | advance of both << 24 |
  //   advance << 16 | bits of the first << 8 | bits of both
  // else the one as if it were both, or the fused entry of a long one.
  alignas(64) std::array<std::uint64_t, 1 << kBits> pairs{};
  bool is_paired = false;
};
struct DcTable : FusedTable {};

// Build the tables of one image. Return false for a table that libjpeg refuses,
// and for one that is not defined.
[[nodiscard]] bool BuildAcTable(const HuffmanSpec& spec, AcTable& table);
[[nodiscard]] bool BuildDcTable(const HuffmanSpec& spec, DcTable& table);

// Fills the pairs of a table: it costs 4 us, and one stream of symbols is
// decoded 5 % and passed over 14 % faster by them. Interleaved streams do
// without.
void PairSymbols(AcTable& table);

// A symbol that a look-up with `bits` did not give whole but as `entry`. At
// least 31 of the bits are valid.
struct LongResult {
  std::uint32_t entry;
  std::uint32_t bits;  // as in the entry, but there sooner; 0: not a code
};
inline LongResult LongSymbol(const FusedTable& table, std::uint32_t entry,
                             std::uint64_t bits) {
  std::uint32_t advance = (entry >> 20 & 15) + 1;
  std::uint32_t size = entry >> 16 & 15;
  std::uint32_t length = entry >> 8 & 255;
  if (length == 0) {
    const auto code = static_cast<std::uint32_t>(bits >> 48);
    length = FusedTable::kBits + 1;
    while (code >= table.limits[length]) {
      ++length;
    }
    if (length > 16) {
      return {0, 0};
    }
    const std::uint32_t symbol =
        table.values[(code >> (16 - length)) + table.offsets[length]];
    size = symbol & 15;
    advance = size != 0 || symbol == 0xF0 ? (symbol >> 4) + 1
                                          : table.no_value_advance;
  }
  // Where the first of its bits is 0, a value is negative (T.81, figure F.12).
  bits <<= length;
  const std::uint64_t negative = (bits >> 63) - 1;
  const std::uint64_t value = (bits >> 1 >> (63 - size)) +
                              (negative & (1 - (std::uint64_t{1} << size)));
  const std::uint32_t used = length + size;
  return {
      advance << 24 | static_cast<std::uint32_t>(value & 0xFFFF) << 8 | used,
      used};
}

}  // namespace infeed
