#include "preprocess/jpeg_entropy/huffman.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/jpeg_entropy/huffman.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/fuse-inl.h"

#if HWY_ONCE
namespace infeed {
namespace {

HWY_EXPORT(FuseSymbols);

constexpr int kMaxCodeBits = 16;

// Fills limits and offsets. False: the code lengths are invalid.
bool Canonical(const HuffmanSpec& spec, HuffmanCodes& codes) {
  std::uint32_t code = 0;
  std::uint32_t symbols = 0;
  codes.limits[0] = 0;
  for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
    codes.offsets[bits] = symbols - code;
    code += spec.counts[bits];
    symbols += spec.counts[bits];
    // No code may be all ones. Only lengths with codes are checked.
    if (symbols > 256 || (spec.counts[bits] > 0 && code >= 1U << bits)) {
      return false;
    }
    codes.limits[bits] = code << (kMaxCodeBits - bits);
    code <<= 1;
  }
  codes.limits[kMaxCodeBits + 1] = ~std::uint32_t{0};
  return true;
}

// Fills the codes. False: they are invalid.
bool SetCodes(const HuffmanSpec& spec, HuffmanCodes& codes) {
  codes.values = spec.values;
  return spec.defined && Canonical(spec, codes);
}

// The code of the end of a block; of no bits if there is none of at most
// `most` bits.
HuffmanCode EndCode(const HuffmanSpec& spec, const HuffmanCodes& codes,
                    int most) {
  std::uint32_t index = 0;
  for (int bits = 1; bits <= most; ++bits) {
    for (int i = 0; i < spec.counts[bits]; ++i, ++index) {
      if (spec.values[index] == 0) {
        return {index - codes.offsets[bits], bits};
      }
    }
  }
  return {};
}

template <int kBits>
void Fill(const HuffmanSpec& spec, HuffmanCode end, FusedTable<kBits>& table) {
  std::uint32_t* const entries = table.fused.data();
  std::uint32_t* const rest =
      HWY_DYNAMIC_DISPATCH(FuseSymbols)(spec, table.codes, end, kBits, entries);
  std::fill(rest, entries + table.kEntries, FusedEntry::Late(kBits + 1));
}

// A group of no symbol but an end; without bits, a long symbol.
constexpr std::uint16_t kEndGroup = AcTable::kGroupEnd << 8;

// Writes groups that begin with a symbol, and continue with those of the rest
// unless they advance too far.
void Join(std::uint32_t symbol, const std::uint16_t* rest, std::size_t count,
          std::uint16_t* groups) {
  const std::uint32_t advance = symbol >> 24;
  const std::uint32_t bits = symbol & 255;
  if (advance == FusedEntry::kEndAdvance) {
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
  table.codes.no_value_advance = FusedEntry::kEndAdvance;
  table.is_grouped = false;
  if (!SetCodes(spec, table.codes)) {
    return false;
  }
  const HuffmanCode end = EndCode(spec, table.codes, AcTable::kBits);
  table.end_bits = static_cast<std::uint32_t>(end.bits);
  Fill(spec, end, table);
  return true;
}

bool BuildDcTable(const HuffmanSpec& spec, DcTable& table) {
  std::size_t symbols = 0;
  for (const std::uint8_t count : spec.counts) {
    symbols += count;
  }
  const auto used =
      spec.values.begin() +
      static_cast<std::ptrdiff_t>(std::min<std::size_t>(symbols, 256));
  table.codes.no_value_advance = 1;
  if (!std::all_of(spec.values.begin(), used,
                   [](std::uint8_t symbol) { return symbol < 16; }) ||
      !SetCodes(spec, table.codes)) {
    return false;
  }
  Fill(spec, {}, table);
  return true;
}

void GroupSymbols(AcTable& table) {
  std::uint16_t* const groups = table.groups.data();
  groups[1] = 0;  // No bits hold no symbol.
  for (std::uint32_t bits = 1; bits <= AcTable::kBits; ++bits) {
    std::uint16_t* group = groups + (std::size_t{1} << bits);
    std::uint16_t* const end = group + (std::size_t{1} << bits);
    const std::uint32_t* symbol = table.fused.data();
    while (group != end) {
      const std::uint32_t entry = table.WithoutEnd(*symbol);
      const std::uint32_t used = entry & 255;
      std::size_t count = 1;  // groups that begin with the symbol
      if (used != 0 && used <= bits) {
        count <<= bits - used;
        Join(entry, groups + count, count, group);
      } else {
        *group = 0;
      }
      group += count;
      symbol += count << (AcTable::kBits - bits);
    }
  }
  std::replace(table.groups.begin() + AcTable::kEntries, table.groups.end(),
               std::uint16_t{0}, kEndGroup);
  table.is_grouped = true;
}

}  // namespace infeed
#endif  // HWY_ONCE
