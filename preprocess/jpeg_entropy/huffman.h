#pragma once

#include <array>
#include <cstdint>

#include "preprocess/jpeg_entropy/scan.h"

namespace infeed {

// The result of a look-up with the next bits of a scan. If these are a whole
// symbol, code and value bits together:
//   advance << 24 | value << 8 | bits used
// The value is already signed (16 bits). advance is added to the coefficient's
// place: 1 + run, 16 for sixteen zeros, or kEndAdvance for the end of a block,
// which is larger than any run past a block's end can reach. If they hold the
// end behind a value, too, the advance and the bits used are both symbols', and
// kHasEnd is set; but a value that fills the block has no end behind it. If
// they hold only the code:
//   (kLongAdvance + run) << 24 | value bits << 16 | code bits << 8
// or, if not even that:
//   kLongAdvance << 24 | least code bits << 16
// from which LongSymbol() makes the first form.
struct FusedEntry {
  static constexpr std::uint32_t kEndAdvance = 80;
  static constexpr std::uint32_t kLongAdvance = 192;
  static constexpr std::uint32_t kHasEnd = 128;  // added to the bits used
  // The entry of no symbol: its 64 used bits are 0 for shifts that count modulo
  // 64.
  static constexpr std::uint32_t kStop = 64;

  static constexpr std::uint32_t Long(std::uint32_t symbol, int code_bits) {
    return (kLongAdvance + (symbol >> 4)) << 24 | (symbol & 15) << 16 |
           static_cast<std::uint32_t>(code_bits) << 8;
  }
  static constexpr std::uint32_t Late(int least_code_bits) {
    return kLongAdvance << 24 | static_cast<std::uint32_t>(least_code_bits)
                                    << 16;
  }
};

// A Huffman code: 16 bits below limits[n] << (16 - n) begin with a code of at
// most n bits; its symbol is values[code + offsets[n]].
struct HuffmanCodes {
  std::array<std::uint32_t, 18> limits{};
  std::array<std::uint32_t, 17> offsets{};  // modulo 2^32
  std::array<std::uint8_t, 256> values{};
  // The advance of a symbol without value bits, other than sixteen zeros.
  std::uint32_t no_value_advance = 0;

  [[nodiscard]] std::uint32_t Advance(std::uint32_t symbol) const {
    return (symbol & 15) != 0 || symbol == 0xF0 ? (symbol >> 4) + 1
                                                : no_value_advance;
  }
};

// One of its codes; of no bits: none.
struct HuffmanCode {
  std::uint32_t code = 0;
  int bits = 0;
};

// The entries for the next kTableBits bits. First in memory, for the loop over
// streams.
template <int kTableBits>
struct FusedTable {
  static constexpr int kBits = kTableBits;
  static constexpr int kEntries = 1 << kBits;
  static constexpr int kRoom = 16;  // overwritten by vectors

  alignas(64) std::array<std::uint32_t, kEntries + kRoom> fused{};
  HuffmanCodes codes;
};
// Each long symbol costs a mispredicted branch: they are fewer with more bits.
// DC differences are few.
struct AcTable : FusedTable<12> {
  // For blocks whose coefficients are not needed. If kBits bits hold whole
  // symbols, groups[kEntries + bits] has all of them, up to the end of a block:
  //   advance of all << 8 | bits used by all
  // The end of a block advances by kGroupEnd here, the others together by less
  // than 64. A long symbol advances by kGroupEnd and uses no bits. Before these
  // entries are those for fewer bits, at (1 << count) + bits, from which they
  // are made.
  static constexpr std::uint32_t kGroupEnd = 128;
  alignas(64) std::array<std::uint16_t, 2 * kEntries> groups{};
  bool is_grouped = false;
  std::uint32_t end_bits = 0;  // of the end of a block; 0: not in any entry

  // An entry without the end behind its value.
  [[nodiscard]] std::uint32_t WithoutEnd(std::uint32_t entry) const {
    constexpr std::uint32_t kEnd =
        FusedEntry::kEndAdvance << 24 | FusedEntry::kHasEnd;
    return (entry & FusedEntry::kHasEnd) == 0 ? entry : entry - kEnd - end_bits;
  }
};
struct DcTable : FusedTable<11> {};

// Build the tables of one image. Return false for a table that libjpeg rejects,
// or an undefined one.
[[nodiscard]] bool BuildAcTable(const HuffmanSpec& spec, AcTable& table);
[[nodiscard]] bool BuildDcTable(const HuffmanSpec& spec, DcTable& table);

// Fills the groups of a table. Takes microseconds; blocks are then skipped 1.3
// times as fast.
void GroupSymbols(AcTable& table);

// Completes a symbol for which the look-up with `bits` gave only `entry`, the
// long form. At least 31 of the bits are valid.
struct LongResult {
  std::uint32_t entry;
  std::uint32_t bits;  // as in entry, but available earlier; 0: not a code
};
inline LongResult LongSymbol(const HuffmanCodes& codes, std::uint32_t entry,
                             std::uint64_t bits) {
  std::uint32_t advance = (entry >> 24) - FusedEntry::kLongAdvance + 1;
  std::uint32_t size = entry >> 16 & 63;
  std::uint32_t length = entry >> 8 & 255;
  if (length == 0) {
    const auto code = static_cast<std::uint32_t>(bits >> 48);
    length = size;  // the least, in this form
    while (code >= codes.limits[length]) {
      ++length;
    }
    if (length > 16) {
      return {0, 0};
    }
    const std::uint32_t symbol =
        codes.values[(code >> (16 - length)) + codes.offsets[length]];
    size = symbol & 15;
    advance = codes.Advance(symbol);
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
