// Fills the look-up table of a Huffman code, by vectors.
#if defined(INFEED_PREPROCESS_JPEG_FUSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#undef INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_FUSE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/huffman.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Writes the entries of the codes of at most `bits` bits, in the order of the
// codes; returns the end of the last symbol's entries, behind which a vector
// may be overwritten. Requires: the codes are valid.
HWY_MAYBE_UNUSED static std::uint32_t* FuseSymbols(const HuffmanSpec& spec,
                                                   const HuffmanCodes& codes,
                                                   Code end, int bits,
                                                   std::uint32_t* entry) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::int32_t, AcTable::kRoom> tag;
  const hn::RebindToUnsigned<decltype(tag)> unsigned_tag;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
  const auto first = hn::Iota(tag, 0);
  const auto step = hn::Set(tag, lanes);
  const auto end_entry = hn::BitCast(
      tag, hn::Set(unsigned_tag, FusedEntry::kEndAdvance << 24 |
                                     FusedEntry::kHasEnd |
                                     static_cast<std::uint32_t>(end.bits)));
  const auto low = hn::Set(unsigned_tag, 0xFFFF);
  const std::uint8_t* symbol = spec.values.data();
  for (int code_bits = 1; code_bits <= bits; ++code_bits) {
    const std::int32_t count = 1 << (bits - code_bits);
    for (int i = 0; i < spec.counts[code_bits]; ++i, ++symbol) {
      const int all_bits = code_bits + (*symbol & 15);
      const bool is_whole = all_bits <= bits;
      const auto base = hn::Set(
          unsigned_tag, is_whole ? codes.Advance(*symbol) << 24 |
                                       static_cast<std::uint32_t>(all_bits)
                                 : FusedEntry::Long(*symbol, code_bits));
      // Value bits that begin with 0 stand for negative values (T.81, figure
      // F.12). The entry of a long symbol has none.
      const int size = is_whole ? *symbol & 15 : 0;
      const int spare = is_whole ? bits - all_bits : 31;
      const auto half = hn::Set(tag, (1 << size) >> 1);
      const auto below = hn::Set(tag, 1 - (1 << size));
      // The end of a block behind a value: what the rest of the bits then is.
      const bool may_end = size > 0 && end.bits > 0 && end.bits <= spare;
      const int behind = may_end ? spare - end.bits : 0;
      const auto end_mask =
          hn::Set(tag, may_end ? ((1 << end.bits) - 1) << behind : 0);
      const auto end_code = hn::Set(
          tag, may_end ? static_cast<std::int32_t>(end.code << behind) : 1);
      auto number = first;
      for (std::int32_t j = 0; j < count; j += lanes) {
        auto value = hn::ShiftRightSame(number, spare);
        const auto has_end = hn::Eq(hn::And(number, end_mask), end_code);
        number = hn::Add(number, step);
        value = hn::Add(value, hn::IfThenElseZero(hn::Lt(value, half), below));
        const auto stored = hn::And(hn::BitCast(unsigned_tag, value), low);
        hn::StoreU(hn::Add(hn::Or(base, hn::ShiftLeft<8>(stored)),
                           hn::BitCast(unsigned_tag,
                                       hn::IfThenElseZero(has_end, end_entry))),
                   unsigned_tag, entry + j);
      }
      entry += count;
    }
  }
  return entry;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_FUSE_INL_H_
