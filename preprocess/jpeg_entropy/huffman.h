#pragma once

#include <array>
#include <cstdint>

#include "preprocess/jpeg_entropy/scan.h"

namespace infeed {

// A Huffman table for the hot loop. If kBits bits hold a whole symbol, code and
// value bits together, a look-up with the next kBits bits gives
//   advance << 24 | value << 8 | bits used
// The value is already signed (16 bits). advance is added to the coefficient's
// place: 1 + run, 16 for sixteen zeros, or kEndAdvance for the end of a block,
// which is larger than any run past a block's end can reach. If kBits bits hold
// only the code, or not even that (code bits 0), a look-up gives
//   kEndAdvance << 24 | run << 20 | value bits << 16 | code bits << 8
// from which LongSymbol() makes the entry.
struct FusedTable {
  static constexpr int kBits = 11;
  static constexpr std::uint32_t kEndAdvance = 80;
  static constexpr std::uint32_t kLong = kEndAdvance << 24;
  // The entry of no symbol: its 64 used bits are 0 for shifts that count modulo
  // 64.
  static constexpr std::uint32_t kStop = 64;

  alignas(64) std::array<std::uint32_t, 1 << kBits> fused{};
  // For longer codes: 16 bits below limits[n] << (16 - n) begin with a code of
  // at most n bits; its symbol is values[code + offsets[n]].
  std::array<std::uint32_t, 18> limits{};
  std::array<std::uint32_t, 17> offsets{};  // modulo 2^32
  std::array<std::uint8_t, 256> values{};
  // The advance of a symbol without value bits, other than sixteen zeros.
  std::uint32_t no_value_advance = 0;
};
struct AcTable : FusedTable {
  // Two symbols for each look-up, if kBits hold both:
  //   value << 48 | second value << 32 | advance of both << 24 |
  //   advance << 16 | bits of the first << 8 | bits of both
  // else one symbol in the place of both, or the fused entry of a long one.
  alignas(64) std::array<std::uint64_t, 1 << kBits> pairs{};
  bool is_paired = false;
};
struct DcTable : FusedTable {};

// Build the tables of one image. Return false for a table that libjpeg rejects,
// or an undefined one.
[[nodiscard]] bool BuildAcTable(const HuffmanSpec& spec, AcTable& table);
[[nodiscard]] bool BuildDcTable(const HuffmanSpec& spec, DcTable& table);

// Fills the pairs of a table. Takes 4 us; one stream of symbols is then decoded
// 5 % faster and skipped 14 % faster. Interleaved streams do not use pairs.
void PairSymbols(AcTable& table);

// Completes a symbol for which the look-up with `bits` gave only `entry`, the
// long form. At least 31 of the bits are valid.
struct LongResult {
  std::uint32_t entry;
  std::uint32_t bits;  // as in entry, but available earlier; 0: not a code
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
  // A value whose first bit is 0 is negative (T.81, figure F.12).
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
