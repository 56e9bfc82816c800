#pragma once

#include <array>
#include <cstdint>

#include "preprocess/jpeg_scan.h"

namespace infeed {

// A Huffman table for the hot loop. A look-up with the next kBits bits gives a
// symbol whole: code and value bits together. An entry is
//   advance << 24 | value << 8 | bits used
// with the value already signed (16 bits), and advance what the coefficient's
// place grows by: 1 + run, 16 for sixteen zeros, kEndAdvance for the end of a
// block: so much that it differs from every run past a block's end. Symbols
// that do not fit, and bits that are no code, have the entry kLong.
struct FusedTable {
  static constexpr int kBits = 11;
  static constexpr int kCodeBits = 10;
  static constexpr std::uint32_t kEndAdvance = 80;
  static constexpr std::uint32_t kLong = kEndAdvance << 24;
  // No symbol: 64 bits used are none where shifts count modulo 64.
  static constexpr std::uint32_t kStop = 64;

  alignas(64) std::array<std::uint32_t, 1 << kBits> fused;
  // For the others: code length << 8 | symbol, 0 for longer codes; and the
  // canonical search over all lengths. Bits below limits[n] << (16 - n) have a
  // code of n bits at most, whose symbol is values[code + offsets[n]].
  std::array<std::uint16_t, 1 << kCodeBits> codes;
  std::array<std::uint32_t, 17> limits;
  std::array<std::int32_t, 17> offsets;
  std::array<std::uint8_t, 256> values;
  // The advance of a symbol without value bits, other than sixteen zeros.
  std::uint32_t no_value_advance;
};
struct AcTable : FusedTable {};
struct DcTable : FusedTable {};

// Build the tables of one image. Return false for a table that libjpeg refuses,
// and for one that is not defined.
[[nodiscard]] bool BuildAcTable(const HuffmanSpec& spec, AcTable& table);
[[nodiscard]] bool BuildDcTable(const HuffmanSpec& spec, DcTable& table);

// The entry of the symbol that bits (at least 31 valid ones, from the highest)
// begin with, also of one that kLong stands for. 0: not a code.
[[nodiscard]] std::uint32_t LongEntry(const FusedTable& table,
                                      std::uint64_t bits);

}  // namespace infeed
