// Entropy decoding of un-stuffed baseline scans, for each instruction set.
//
// The coefficients of a block are 64 int16, not dequantised, in the order of
// kStoredPlace. For any bytes, nothing outside of the named memory is read or
// written. All functions return false for irregular data: an invalid code, a
// run past the last coefficient, bits used beyond the end, a DC value outside
// int16.
#if defined(INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#undef INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/block-inl.h"
#include "preprocess/jpeg_entropy/entropy.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Decodes MCUs; `store` receives the coefficients.
template <bool kPairs, class Store>
HWY_INLINE bool DecodeEach(const McuLayout& layout, const ScanBytes& bytes,
                           int mcus, ScanPlace& place, Store store) {
  if (place.bit > bytes.size * 8) {
    return false;
  }
  BitBuffer in(bytes.data, place.bit);
  std::array<int, 3> dc = place.dc;
  for (int mcu = 0; mcu < mcus; ++mcu) {
    for (int b = 0; b < layout.blocks; ++b) {
      const McuLayout::Block& kind = layout.block[b];
      int& value = dc[kind.component];
      auto block = store.Next();
      block.Clear();
      if (!DecodeDc(*kind.dc, in, value)) {
        return false;
      }
      const std::uint32_t end = kPairs ? DecodeAcPairs(*kind.ac, in, block)
                                       : DecodeAc(*kind.ac, in, block);
      if (end == 0) {
        return false;
      }
      store.End(value, end);
    }
    if (in.bit() > bytes.size * 8) {
      return false;
    }
  }
  place = {.bit = in.bit(), .dc = dc};
  return true;
}

struct KeepBlocks {
  HWY_INLINE KeepBlock Next() const { return {coefficients}; }
  HWY_INLINE void End(int dc, std::uint32_t end) {
    coefficients[0] = static_cast<std::int16_t>(dc);
    coefficients += 64;
    *ends++ = static_cast<std::uint8_t>(end);
  }
  std::int16_t* coefficients;
  std::uint8_t* ends;
};
struct DropBlocks {
  HWY_INLINE DropBlock Next() const { return {}; }
  HWY_INLINE void End(int, std::uint32_t) {}
};

// Decodes by pairs if all tables have pairs.
template <class Store>
HWY_INLINE bool DecodeEach(const McuLayout& layout, const ScanBytes& bytes,
                           int mcus, ScanPlace& place, Store store) {
  const bool is_paired =
      std::all_of(layout.block.begin(), layout.block.begin() + layout.blocks,
                  [](const auto& block) { return block.ac->is_paired; });
  return is_paired ? DecodeEach<true>(layout, bytes, mcus, place, store)
                   : DecodeEach<false>(layout, bytes, mcus, place, store);
}

// Decodes `mcus` MCUs from place, which moves behind them. Writes all 64 * mcus
// * blocks coefficients, blocks in the scan's order, and may write zeros to one
// more block. ends: for each block, the number of coefficients in zigzag order,
// 1..64, behind which all are zero.
[[nodiscard]] inline bool DecodeMcus(const McuLayout& layout,
                                     const ScanBytes& bytes, int mcus,
                                     ScanPlace& place,
                                     std::int16_t* coefficients,
                                     std::uint8_t* ends) {
  return DecodeEach(layout, bytes, mcus, place, KeepBlocks{coefficients, ends});
}

// Decodes `mcus` MCUs without storing coefficients: only place moves.
[[nodiscard]] inline bool PassMcus(const McuLayout& layout,
                                   const ScanBytes& bytes, int mcus,
                                   ScanPlace& place) {
  return DecodeEach(layout, bytes, mcus, place, DropBlocks{});
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif
