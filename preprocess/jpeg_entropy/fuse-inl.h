// Fills the look-up table of a Huffman code, by vectors.
#if defined(INFEED_PREPROCESS_JPEG_FUSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#undef INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/huffman.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// How the entries of a symbol follow from their numbers, the bits behind the
// symbol's code.
struct SymbolEntries {
  std::uint32_t base;  // the entry of value 0 without an end
  int size;            // value bits in it
  int spare;           // bits behind those
  // The end follows where (number & end_mask) == end_code.
  std::int32_t end_mask = 0;
  std::int32_t end_code = 1;
};

inline SymbolEntries EntriesOf(std::uint32_t symbol, int code_bits,
                               const HuffmanCodes& codes, HuffmanCode end,
                               int bits) {
  const int size = static_cast<int>(symbol & 15);
  const int spare = bits - code_bits - size;
  if (spare < 0) {
    return {FusedEntry::Long(symbol, code_bits), 0, bits - code_bits};
  }
  const std::uint32_t base = codes.Advance(symbol) << 24 |
                             static_cast<std::uint32_t>(code_bits + size);
  const int behind = spare - end.bits;
  if (size == 0 || end.bits == 0 || behind < 0) {
    return {base, size, spare};
  }
  return {base, size, spare, ((1 << end.bits) - 1) << behind,
          static_cast<std::int32_t>(end.code << behind)};
}

// Writes the entries of the codes of at most `bits` bits, in the order of the
// codes; returns the end of the last symbol's entries, behind which a vector
// may be overwritten. Requires: the codes are valid.
HWY_MAYBE_UNUSED static std::uint32_t* FuseSymbols(const HuffmanSpec& spec,
                                                   const HuffmanCodes& codes,
                                                   HuffmanCode end, int bits,
                                                   std::uint32_t* entry) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::int32_t, AcTable::kRoom> tag;
  const hn::RebindToUnsigned<decltype(tag)> unsigned_tag;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
  const auto first = hn::Iota(tag, 0);
  const auto step = hn::Set(tag, lanes);
  const auto low = hn::Set(unsigned_tag, 0xFFFF);
  const auto end_entry = hn::BitCast(
      tag, hn::Set(unsigned_tag, FusedEntry::kEndAdvance << 24 |
                                     FusedEntry::kHasEnd |
                                     static_cast<std::uint32_t>(end.bits)));
  const std::uint8_t* symbol = spec.values.data();
  for (int code_bits = 1; code_bits <= bits; ++code_bits) {
    const std::int32_t count = 1 << (bits - code_bits);
    for (int i = 0; i < spec.counts[code_bits]; ++i, entry += count) {
      const SymbolEntries of =
          EntriesOf(*symbol++, code_bits, codes, end, bits);
      const auto base = hn::Set(unsigned_tag, of.base);
      // Value bits that begin with 0 stand for negative values (T.81, figure
      // F.12).
      const auto half = hn::Set(tag, (1 << of.size) >> 1);
      const auto below = hn::Set(tag, 1 - (1 << of.size));
      const auto end_mask = hn::Set(tag, of.end_mask);
      const auto end_code = hn::Set(tag, of.end_code);
      auto number = first;
      for (std::int32_t j = 0; j < count; j += lanes) {
        auto value = hn::ShiftRightSame(number, of.spare);
        value = hn::Add(value, hn::IfThenElseZero(hn::Lt(value, half), below));
        const auto stored = hn::And(hn::BitCast(unsigned_tag, value), low);
        const auto behind = hn::IfThenElseZero(
            hn::Eq(hn::And(number, end_mask), end_code), end_entry);
        hn::StoreU(hn::Add(hn::Or(base, hn::ShiftLeft<8>(stored)),
                           hn::BitCast(unsigned_tag, behind)),
                   unsigned_tag, entry + j);
        number = hn::Add(number, step);
      }
    }
  }
  return entry;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_FUSE_INL_H_
