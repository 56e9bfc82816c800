// The inverse DCT of a row of blocks, for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/idct_group-inl.h"
#include "preprocess/jpeg_pixels/idct_pass-inl.h"
#include "preprocess/jpeg_pixels/idct_scalar.h"
#include "preprocess/jpeg_pixels/idct_turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// The dequantised DC of a block, which is first in any order.
HWY_INLINE int FlatDc(const std::int16_t* block,
                      const std::int16_t* quantiser) {
  return static_cast<std::int16_t>(block[0] * quantiser[0]);
}

// Writes the samples of neighbouring blocks that have only DC. False: too large
// a number.
template <std::size_t kCount>
HWY_INLINE bool FillFlatGroup(
    const std::array<const std::int16_t*, kCount>& blocks,
    const std::int16_t* quantiser, std::uint8_t* out, std::ptrdiff_t stride) {
  std::array<std::uint64_t, kCount> row;
  bool regular = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    const int dc = FlatDc(blocks[i], quantiser);
    regular &= IsFlatRegular(dc);
    row[i] = FlatSample(dc) * 0x0101010101010101U;
  }
  for (int y = 0; y < 8; ++y) {
    std::memcpy(out + y * stride, row.data(), sizeof row);
  }
  return regular;
}

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace idct {

// Collects the magnitudes of the numbers that InverseDctBlock() limits.
struct Magnitudes {
  V16 first;   // numbers limited to 8191, or-ed
  V16 second;  // numbers limited to 16383, or-ed

  static HWY_INLINE V16 With(V16 seen, V16 a, V16 b) {
    return hn::Or(seen, hn::Or(hn::Abs(a), hn::Abs(b)));
  }
  HWY_INLINE bool Regular() const {
    const D16 d16;
    const V16 beyond = hn::Or(
        hn::And(first, hn::Set(d16, static_cast<std::int16_t>(0xE000))),
        hn::And(second, hn::Set(d16, static_cast<std::int16_t>(0xC000))));
    return hn::AllTrue(d16, hn::Eq(beyond, hn::Zero(d16)));
  }
};

HWY_INLINE Samples TransformFull(const PairedGroup& in, Magnitudes& seen) {
  seen.first = Magnitudes::With(seen.first, in.low.p04, in.high.p04);
  const TurnedRows left = Turn(FullPass<kFirstShift>(in.low));
  const TurnedRows right = Turn(FullPass<kFirstShift>(in.high));
  const PairedRows top{left.even_top, left.odd_top, right.even_top,
                       right.odd_top};
  const PairedRows bottom{left.even_bottom, left.odd_bottom, right.even_bottom,
                          right.odd_bottom};
  seen.second = Magnitudes::With(seen.second, top.p04, bottom.p04);
  return TurnToSamples(FullPass<kSecondShift>(top),
                       FullPass<kSecondShift>(bottom));
}

HWY_INLINE Samples TransformCorner(const PairedCorner& in,
                                   const PairedCorner& quantiser,
                                   Magnitudes& seen) {
  const V16 even = EvenLanes();
  const V16 p02 = hn::Mul(in.p02, quantiser.p02);
  const V16 p31 = hn::Mul(in.p31, quantiser.p31);
  seen.first = hn::Or(seen.first, hn::And(hn::Abs(p02), even));
  const TurnedRows rows = Turn(CornerPass<kFirstShift>(p02, p31));
  seen.second = hn::Or(
      seen.second,
      hn::And(hn::Or(hn::Abs(rows.even_top), hn::Abs(rows.even_bottom)), even));
  return TurnToSamples(
      CornerPass<kSecondShift>(rows.even_top, rows.odd_top),
      CornerPass<kSecondShift>(rows.even_bottom, rows.odd_bottom));
}

// Transforms a row in groups, the last one overlapping the one before it.
HWY_MAYBE_UNUSED static bool TransformRow(const std::int16_t* coefficients,
                                          const std::uint8_t* ends,
                                          const int* blocks, int count,
                                          const std::int16_t* quantiser,
                                          std::uint8_t* out,
                                          std::ptrdiff_t stride) {
  Magnitudes seen{hn::Zero(D16()), hn::Zero(D16())};
  bool regular = true;
  Group group;
  group.fill(quantiser);
  const PairedCorner corner = LoadCorner(group);
  for (int i = 0; i < count; i += kGroup) {
    const int first = std::min(i, count - kGroup);
    std::uint8_t end = 0;
    for (int j = 0; j < kGroup; ++j) {
      const int block = blocks[first + j];
      group[j] = coefficients + std::ptrdiff_t{64} * block;
      end = std::max(end, ends[block]);
    }
    std::uint8_t* place = out + 8 * first;
    if (end > kCornerEnd) {
      StoreGroup(TransformFull(LoadGroup(group, quantiser), seen), place,
                 stride);
    } else if (end > 1) {
      StoreGroup(TransformCorner(LoadCorner(group), corner, seen), place,
                 stride);
    } else {
      regular &= FillFlatGroup(group, quantiser, place, stride);
    }
  }
  return regular && seen.Regular();
}

// Transforms fewer blocks than a group.
HWY_MAYBE_UNUSED static bool TransformFew(const std::int16_t* coefficients,
                                          const std::uint8_t* ends,
                                          const int* blocks, int count,
                                          const std::int16_t* quantiser,
                                          std::uint8_t* out,
                                          std::ptrdiff_t stride) {
  std::array<int, kGroup> padded;
  for (int i = 0; i < kGroup; ++i) {
    padded[i] = blocks[std::min(i, count - 1)];
  }
  std::array<std::uint8_t, 64 * kGroup> samples;
  const bool regular = TransformRow(coefficients, ends, padded.data(), kGroup,
                                    quantiser, samples.data(), 8 * kGroup);
  for (int y = 0; y < 8; ++y) {
    std::memcpy(out + y * stride, samples.data() + y * 8 * kGroup, 8 * count);
  }
  return regular;
}

}  // namespace idct
#endif  // HWY_TARGET

// Transforms `count` blocks of one component: block blocks[i]'s coefficients
// are the 64 at coefficients + 64 * blocks[i], all zero behind the first
// ends[blocks[i]] in zigzag order; its 8x8 samples go to out + 8 * i, rows
// stride apart. Coefficients and quantiser are in the order of kStoredPlace.
// Samples are those of libjpeg-turbo's JDCT_ISLOW (see idct_scalar.h); returns
// false where InverseDctBlock() does.
[[nodiscard]] HWY_MAYBE_UNUSED static bool InverseDctRow(
    const std::int16_t* coefficients, const std::uint8_t* ends,
    const int* blocks, int count, const std::int16_t* quantiser,
    std::uint8_t* out, std::ptrdiff_t stride) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  if (count <= 0) {
    return true;
  }
  const auto transform =
      count < idct::kGroup ? idct::TransformFew : idct::TransformRow;
  return transform(coefficients, ends, blocks, count, quantiser, out, stride);
#else
  bool regular = true;
  for (int i = 0; i < count; ++i, out += 8) {
    const std::int16_t* block = coefficients + std::ptrdiff_t{64} * blocks[i];
    regular &= ends[blocks[i]] > 1
                   ? InverseDctBlock(block, quantiser, out, stride)
                   : FillFlatGroup<1>({block}, quantiser, out, stride);
  }
  return regular;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_INL_H_
