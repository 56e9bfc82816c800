// The inverse DCT of a row of blocks to fewer samples, for each instruction
// set.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_SCALED_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_SCALED_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_SCALED_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_SCALED_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/idct-inl.h"
#include "preprocess/jpeg_pixels/idct_group-inl.h"
#include "preprocess/jpeg_pixels/idct_pass-inl.h"
#include "preprocess/jpeg_pixels/idct_scalar.h"
#include "preprocess/jpeg_pixels/idct_turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace idct {

constexpr int kC0211 = Fixed13(0.211164243);
constexpr int kC0509 = Fixed13(0.509795579);
constexpr int kC0601 = Fixed13(0.601344887);
constexpr int kC0720 = Fixed13(0.720959822);
constexpr int kC0850 = Fixed13(0.850430095);
constexpr int kC1061 = Fixed13(1.061594337);
constexpr int kC1272 = Fixed13(1.272758580);
constexpr int kC1451 = Fixed13(1.451774981);
constexpr int kC2172 = Fixed13(2.172734803);
constexpr int kC3624 = Fixed13(3.624509785);

// Samples of a group, row by row; a row has all blocks side by side.
template <int kSize>
using ScaledSamples = std::array<std::uint8_t, kSize * kSize * kGroup>;

// A pass from eight rows, or columns, to fewer.
struct FourRows {
  V32 row[4];
};
struct TwoRows {
  V32 row[2];
};

HWY_INLINE FourRows PassTo4(const PairedRows& in, V32 half) {
  const V32 mean = DotAdd<1 << 14, 0>(half, in.p04);
  const V32 slope = Dot<kC1847, -kC0765>(in.p26);
  const V32 outer =
      DotAdd<-kC0509, kC2562>(Dot<kC0899, -kC0601>(in.p35), in.p71);
  const V32 inner =
      DotAdd<-kC0211, kC1061>(Dot<-kC2172, kC1451>(in.p35), in.p71);
  const V32 ends = hn::Add(mean, slope);
  const V32 center = hn::Sub(mean, slope);
  return {{hn::Add(ends, outer), hn::Add(center, inner), hn::Sub(center, inner),
           hn::Sub(ends, outer)}};
}

HWY_INLINE TwoRows PassTo2(V16 p04, V16 p71, V16 p35, V32 half) {
  const V32 first = hn::ShiftLeft<16>(hn::BitCast(D32(), p04));
  const V32 even = hn::Add(half, hn::ShiftRight<1>(first));
  const V32 odd = DotAdd<-kC0720, kC3624>(Dot<-kC1272, kC0850>(p35), p71);
  return {{hn::Add(even, odd), hn::Sub(even, odd)}};
}

// Shifts two rows and clamps them to 16 bits.
template <int kShift>
HWY_INLINE V16 PackRows(V32 a, V32 b) {
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(a),
                              hn::ShiftRight<kShift>(b));
}

// Joins the left and right halves of four rows in a lane.
alignas(16) inline constexpr std::array<std::int8_t, 16> kJoined = {
    0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};

// Reorders rows of four samples from block by block to row by row.
alignas(64) inline constexpr std::array<std::int32_t, 4 * kGroup> kRowByRow =
    [] {
      std::array<std::int32_t, 4 * kGroup> places{};
      for (int i = 0; i < 4 * kGroup; ++i) {
        places[i] = i % kGroup * 4 + i / kGroup;
      }
      return places;
    }();

HWY_INLINE void Transform(const PairedGroup& in, Magnitudes& seen,
                          ScaledSamples<4>& out) {
  seen.first = Magnitudes::With(seen.first, hn::And(in.low.p04, EvenLanes()),
                                hn::And(in.high.p04, EvenLanes()));
  const FourRows low = PassTo4(in.low, Half(12));
  const FourRows high = PassTo4(in.high, Half(12));
  const V16 low01 = PackRows<12>(low.row[0], low.row[1]);
  const V16 low23 = PackRows<12>(low.row[2], low.row[3]);
  const V16 high01 = PackRows<12>(high.row[0], high.row[1]);
  const V16 high23 = PackRows<12>(high.row[2], high.row[3]);
  const FourRows columns =
      PassTo4({EvenPairs(low01, low23), OddPairs(low01, low23),
               EvenPairs(high01, high23), OddPairs(high01, high23)},
              Half(19));
  const V8 halves = NarrowToBytes(ShiftTwo<19>(columns.row[0], columns.row[1]),
                                  ShiftTwo<19>(columns.row[2], columns.row[3]));
  const D8 d8;
  const V8 rows =
      hn::Xor(hn::Set(d8, -128),
              hn::TableLookupBytes(halves, hn::LoadDup128(d8, kJoined.data())));
  const D32 d32;
  const V32 sorted = hn::TableLookupLanes(
      hn::BitCast(d32, rows), hn::SetTableIndices(d32, kRowByRow.data()));
  hn::StoreU(hn::BitCast(hn::Repartition<std::uint8_t, D8>(), sorted),
             hn::Repartition<std::uint8_t, D8>(), out.data());
}

HWY_INLINE void Transform(const PairedGroup& in, Magnitudes& seen,
                          ScaledSamples<2>& out) {
  seen.first = Magnitudes::With(seen.first, hn::And(in.low.p04, EvenLanes()),
                                hn::And(in.high.p04, EvenLanes()));
  const TwoRows low = PassTo2(in.low.p04, in.low.p71, in.low.p35, Half(13));
  const TwoRows high = PassTo2(in.high.p04, in.high.p71, in.high.p35, Half(13));
  const V16 left = PackRows<13>(low.row[0], low.row[1]);
  const V16 right = PackRows<13>(high.row[0], high.row[1]);
  const V16 p04 = EvenPairs(left, left);
  seen.second = hn::Or(seen.second, hn::And(hn::Abs(p04), EvenLanes()));
  const TwoRows columns =
      PassTo2(p04, EvenPairs(right, right), OddPairs(right, right), Half(20));
  const V16 rows = ShiftTwo<20>(columns.row[0], columns.row[1]);
  const D8 d8;
  alignas(64) std::array<std::int8_t, 16 * kGroup> lanes;
  hn::Store(hn::Xor(hn::Set(d8, -128), NarrowToBytes(rows, rows)), d8,
            lanes.data());
  for (int i = 0; i < 2 * kGroup; ++i) {
    std::memcpy(out.data() + 2 * i,
                lanes.data() + i % kGroup * 16 + i / kGroup * 2, 2);
  }
}

template <int kSize>
HWY_MAYBE_UNUSED static bool TransformScaled(const std::int16_t* coefficients,
                                             const int* blocks, int count,
                                             const std::int16_t* quantiser,
                                             std::uint8_t* out,
                                             std::ptrdiff_t stride) {
  Magnitudes seen{hn::Zero(D16()), hn::Zero(D16())};
  for (int i = 0; i < count; i += kGroup) {
    const int first = std::max(0, std::min(i, count - kGroup));
    Group group;
    for (int j = 0; j < kGroup; ++j) {
      group[j] = coefficients +
                 std::ptrdiff_t{64} * blocks[std::min(first + j, count - 1)];
    }
    ScaledSamples<kSize> samples;
    Transform(LoadGroup(group, quantiser), seen, samples);
    const int width = kSize * std::min(kGroup, count);
    for (int y = 0; y < kSize; ++y) {
      std::memcpy(out + kSize * first + y * stride,
                  samples.data() + y * kSize * kGroup, width);
    }
  }
  return seen.Regular();
}

}  // namespace idct
#endif  // HWY_TARGET

// As InverseDctRow(), which it equals for size 8: block blocks[i]'s size x size
// samples (idct_scalar.h) go to out + size * i. Requires: size is 8, 4, 2 or 1.
[[nodiscard]] HWY_MAYBE_UNUSED static bool InverseDctScaledRow(
    int size, const std::int16_t* coefficients, const std::uint8_t* ends,
    const int* blocks, int count, const std::int16_t* quantiser,
    std::uint8_t* out, std::ptrdiff_t stride) {
  if (size == 8) {
    return InverseDctRow(coefficients, ends, blocks, count, quantiser, out,
                         stride);
  }
  bool regular = true;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  if (size > 1) {
    const auto transform =
        size == 4 ? idct::TransformScaled<4> : idct::TransformScaled<2>;
    return transform(coefficients, blocks, count, quantiser, out, stride);
  }
#endif
  // In row-by-row order; DC is first in every order.
  for (int i = 0; i < count; ++i) {
    regular &= InverseDctBlockScaled(
        size, coefficients + std::ptrdiff_t{64} * blocks[i], quantiser,
        out + size * i, stride);
  }
  return regular;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_SCALED_INL_H_
