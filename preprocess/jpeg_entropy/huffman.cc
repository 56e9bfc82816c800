#include "preprocess/jpeg_entropy/huffman.h"

#include <algorithm>
#include <cstddef>

namespace infeed {
namespace {

constexpr int kMaxCodeBits = 16;

// The value that `size` bits stand for (T.81, table F.1 and figure F.12).
constexpr std::int32_t Signed(std::uint32_t bits, int size) {
  const auto value = static_cast<std::int32_t>(bits);
  return size > 0 && value >> (size - 1) == 0 ? value - (1 << size) + 1 : value;
}

constexpr std::uint32_t Entry(std::int32_t value, std::uint32_t advance,
                              int bits) {
  return advance << 24 | (static_cast<std::uint32_t>(value) & 0xFFFF) << 8 |
         static_cast<std::uint32_t>(bits);
}

// The entry of a symbol of which only that is known.
constexpr std::uint32_t LateEntry(int least_code_bits) {
  return FusedTable::kLongAdvance << 24 |
         static_cast<std::uint32_t>(least_code_bits) << 16;
}

constexpr std::uint32_t LongEntry(std::uint32_t symbol, int code_bits) {
  const std::uint32_t size = symbol & 15;
  const auto bits = static_cast<std::uint32_t>(code_bits);
  return bits + size > FusedTable::kLongBits
             ? LateEntry(code_bits)
             : (FusedTable::kLongAdvance + (symbol >> 4)) << 24 | size << 16 |
                   bits << 8;
}

std::uint32_t Advance(const FusedTable& table, std::uint32_t symbol) {
  const std::uint32_t run = symbol >> 4;
  return (symbol & 15) != 0 || run == 15 ? run + 1 : table.no_value_advance;
}

// Fills limits and offsets. False: the code lengths are invalid.
bool Canonical(const HuffmanSpec& spec, FusedTable& table) {
  std::uint32_t code = 0;
  std::uint32_t symbols = 0;
  table.limits[0] = 0;
  for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
    table.offsets[bits] = symbols - code;
    code += spec.counts[bits];
    symbols += spec.counts[bits];
    // No code may be all ones. Only lengths with codes are checked.
    if (symbols > 256 || (spec.counts[bits] > 0 && code >= 1U << bits)) {
      return false;
    }
    table.limits[bits] = code << (kMaxCodeBits - bits);
    code <<= 1;
  }
  table.limits[kMaxCodeBits + 1] = ~std::uint32_t{0};
  return true;
}

// Writes the entries of one symbol; returns where the next symbol's entries
// begin.
std::uint32_t* Fuse(const FusedTable& table, std::uint32_t symbol, int bits,
                    std::uint32_t* entry) {
  const int size = static_cast<int>(symbol & 15);
  const std::uint32_t advance = Advance(table, symbol);
  const int spare = FusedTable::kBits - bits - size;
  if (spare < 0) {
    return std::fill_n(entry, 1 << (FusedTable::kBits - bits),
                       LongEntry(symbol, bits));
  }
  for (std::uint32_t value = 0; value < 1U << size; ++value) {
    entry = std::fill_n(entry, 1 << spare,
                        Entry(Signed(value, size), advance, bits + size));
  }
  return entry;
}

bool Build(const HuffmanSpec& spec, FusedTable& table) {
  if (!spec.defined || !Canonical(spec, table)) {
    return false;
  }
  table.values = spec.values;
  std::uint32_t* entry = table.fused.data();
  const std::uint8_t* symbol = spec.values.data();
  for (int bits = 1; bits <= FusedTable::kBits; ++bits) {
    for (int i = 0; i < spec.counts[bits]; ++i, ++symbol) {
      entry = Fuse(table, *symbol, bits, entry);
    }
  }
  std::fill(entry, table.fused.data() + table.fused.size(),
            LateEntry(FusedTable::kBits + 1));
  return true;
}

// A group of no symbol but an end; without bits, a long symbol.
constexpr std::uint16_t kEndGroup = AcTable::kGroupEnd << 8;

// Writes groups that begin with a symbol, and continue with those of the rest
// unless they advance too far.
void Join(std::uint32_t symbol, const std::uint16_t* rest, std::size_t count,
          std::uint16_t* groups) {
  const std::uint32_t advance = symbol >> 24;
  const std::uint32_t bits = symbol & 255;
  if (advance == FusedTable::kEndAdvance) {
    std::fill_n(groups, count, static_cast<std::uint16_t>(kEndGroup | bits));
    return;
  }
  const std::uint32_t alone = advance << 8 | bits;
  const std::uint32_t limit = (64 - advance) << 8;
  for (std::size_t i = 0; i < count; ++i) {
    const bool fits = (rest[i] & (kEndGroup - 1)) < limit;
    groups[i] = static_cast<std::uint16_t>(alone + (fits ? rest[i] : 0));
  }
}

}  // namespace

bool BuildAcTable(const HuffmanSpec& spec, AcTable& table) {
  table.no_value_advance = FusedTable::kEndAdvance;
  table.is_grouped = false;
  return Build(spec, table);
}

bool BuildDcTable(const HuffmanSpec& spec, DcTable& table) {
  std::size_t symbols = 0;
  for (const std::uint8_t count : spec.counts) {
    symbols += count;
  }
  const auto used =
      spec.values.begin() +
      static_cast<std::ptrdiff_t>(std::min<std::size_t>(symbols, 256));
  table.no_value_advance = 1;
  return std::all_of(spec.values.begin(), used,
                     [](std::uint8_t symbol) { return symbol < 16; }) &&
         Build(spec, table);
}

void GroupSymbols(AcTable& table) {
  std::uint16_t* const groups = table.groups.data();
  groups[1] = 0;  // No bits hold no symbol.
  for (std::uint32_t bits = 1; bits <= FusedTable::kBits; ++bits) {
    std::uint16_t* group = groups + (std::size_t{1} << bits);
    std::uint16_t* const end = group + (std::size_t{1} << bits);
    const std::uint32_t* symbol = table.fused.data();
    while (group != end) {
      const std::uint32_t used = *symbol & 255;
      std::size_t count = 1;  // groups that begin with the symbol
      if (used != 0 && used <= bits) {
        count <<= bits - used;
        Join(*symbol, groups + count, count, group);
      } else {
        *group = 0;
      }
      group += count;
      symbol += count << (FusedTable::kBits - bits);
    }
  }
  std::replace(table.groups.begin() + table.fused.size(), table.groups.end(),
               std::uint16_t{0}, kEndGroup);
  table.is_grouped = true;
}

}  // namespace infeed
