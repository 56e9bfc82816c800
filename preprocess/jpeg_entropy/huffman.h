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
// only the code, a look-up gives
//   (kLongAdvance + run) << 24 | value bits << 16 | code bits << 8
// or, if they do not even hold that, or code and value have more than kLongBits
// bits,
//   kLongAdvance << 24 | least code bits << 16
// from which LongSymbol() makes the entry.
struct FusedTable {
  static constexpr int kBits = 11;
  static constexpr std::uint32_t kEndAdvance = 80;
  static constexpr std::uint32_t kLongAdvance = 192;
  static constexpr int kLongBits = 2 * kBits;
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
  // For blocks whose coefficients are not needed. If kBits bits hold whole
  // symbols, groups[(1 << kBits) + bits] has all of them, up to the end of a
  // block:
  //   advance of all << 8 | bits used by all
  // The end of a block advances by kGroupEnd here, the others together by less
  // than 64. A long symbol advances by kGroupEnd and uses no bits. Before these
  // entries are those for fewer bits, at (1 << count) + bits, from which they
  // are made.
  static constexpr std::uint32_t kGroupEnd = 128;
  alignas(64) std::array<std::uint16_t, 2 << kBits> groups{};
  bool is_grouped = false;
};
struct DcTable : FusedTable {};

// Build the tables of one image. Return false for a table that libjpeg rejects,
// or an undefined one.
[[nodiscard]] bool BuildAcTable(const HuffmanSpec& spec, AcTable& table);
[[nodiscard]] bool BuildDcTable(const HuffmanSpec& spec, DcTable& table);

// Fills the groups of a table. Takes 3 us; blocks are then skipped 1.3 times as
// fast.
void GroupSymbols(AcTable& table);

// Completes a symbol for which the look-up with `bits` gave only `entry`, the
// long form. At least 31 of the bits are valid.
struct LongResult {
  std::uint32_t entry;
  std::uint32_t bits;  // as in entry, but available earlier; 0: not a code
};
inline LongResult LongSymbol(const FusedTable& table, std::uint32_t entry,
                             std::uint64_t bits) {
  std::uint32_t advance = (entry >> 24) - FusedTable::kLongAdvance + 1;
  std::uint32_t size = entry >> 16 & 63;
  std::uint32_t length = entry >> 8 & 255;
  if (length == 0) {
    const auto code = static_cast<std::uint32_t>(bits >> 48);
    length = size;  // the least, in this form
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
