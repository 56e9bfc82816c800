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
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/block-inl.h"
#include "preprocess/jpeg_entropy/entropy.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Decodes MCUs; `blocks` takes their coefficients.
template <class Blocks>
HWY_INLINE bool DecodeEach(const McuLayout& layout, const ScanBytes& bytes,
                           int mcus, ScanPlace& place, Blocks blocks) {
  if (place.bit > bytes.size * 8) {
    return false;
  }
  BitBuffer in(bytes.data, place.bit);
  std::array<int, 3> dc = place.dc;
  for (int mcu = 0; mcu < mcus; ++mcu) {
    for (int b = 0; b < layout.blocks; ++b) {
      const McuLayout::Block& kind = layout.block[b];
      int& value = dc[kind.component];
      blocks.Begin();
      if (!DecodeDc(*kind.dc, in, value) || !blocks.Take(*kind.ac, in, value)) {
        return false;
      }
    }
    if (in.bit() > bytes.size * 8) {
      return false;
    }
  }
  place = {.bit = in.bit(), .dc = dc};
  return true;
}

// Keeps coefficients.
struct KeptBlocks {
  HWY_INLINE void Begin() const { ClearBlock(coefficients); }
  // Decodes the AC coefficients of a block with this DC value. False:
  // irregular.
  HWY_INLINE bool Take(const AcTable& table, BitBuffer& in, int dc) {
    const std::uint32_t end = DecodeAc(table, in, KeepBlock{coefficients});
    coefficients[0] = static_cast<std::int16_t>(dc);
    coefficients += 64;
    *ends++ = static_cast<std::uint8_t>(end);
    return end != 0;
  }
  std::int16_t* coefficients;
  std::uint8_t* ends;
};
// Skips blocks, if all tables are grouped.
struct GroupedBlocks {
  HWY_INLINE void Begin() const {}
  HWY_INLINE bool Take(const AcTable& table, BitBuffer& in, int /*dc*/) const {
    return SkipAc(table, in);
  }
};
// Skips blocks with any tables.
struct SkippedBlocks {
  HWY_INLINE void Begin() const {}
  HWY_INLINE bool Take(const AcTable& table, BitBuffer& in, int /*dc*/) const {
    return DecodeAc(table, in, DropBlock{}) != 0;
  }
};

// Decodes `mcus` MCUs from place, which moves behind them. Writes all 64 * mcus
// * blocks coefficients, blocks in the scan's order, and may write to one more
// block. ends: for each block, the number of coefficients in zigzag order,
// 1..64, behind which all are zero.
[[nodiscard]] inline bool DecodeMcus(const McuLayout& layout,
                                     const ScanBytes& bytes, int mcus,
                                     ScanPlace& place,
                                     std::int16_t* coefficients,
                                     std::uint8_t* ends) {
  return DecodeEach(layout, bytes, mcus, place, KeptBlocks{coefficients, ends});
}

// Decodes `mcus` MCUs without storing coefficients: only place moves.
[[nodiscard]] inline bool PassMcus(const McuLayout& layout,
                                   const ScanBytes& bytes, int mcus,
                                   ScanPlace& place) {
  const bool is_grouped =
      std::all_of(layout.block.begin(), layout.block.begin() + layout.blocks,
                  [](const auto& block) { return block.ac->is_grouped; });
  return is_grouped ? DecodeEach(layout, bytes, mcus, place, GroupedBlocks())
                    : DecodeEach(layout, bytes, mcus, place, SkippedBlocks());
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif
