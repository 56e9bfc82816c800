// The arithmetic of the inverse DCT on vectors: the passes over pairs of rows,
// and the turns between and behind them. Each 128-bit lane is a block.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {
namespace idct {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using D64 = hn::ScalableTag<std::int64_t>;
using D8 = hn::ScalableTag<std::int8_t>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using V8 = hn::Vec<D8>;

// A constant of 13 binary places.
constexpr int Fixed13(double x) { return static_cast<int>(x * 8192 + 0.5); }
constexpr int kC0298 = Fixed13(0.298631336);
constexpr int kC0390 = Fixed13(0.390180644);
constexpr int kC0541 = Fixed13(0.541196100);
constexpr int kC0765 = Fixed13(0.765366865);
constexpr int kC0899 = Fixed13(0.899976223);
constexpr int kC1175 = Fixed13(1.175875602);
constexpr int kC1501 = Fixed13(1.501321110);
constexpr int kC1847 = Fixed13(1.847759065);
constexpr int kC1961 = Fixed13(1.961570560);
constexpr int kC2053 = Fixed13(2.053119869);
constexpr int kC2562 = Fixed13(2.562915447);
constexpr int kC3072 = Fixed13(3.072711026);
constexpr int kOne = 8192;

// even * a's even lanes + odd * a's odd lanes, wrapping at 32 bits.
template <int kEven, int kOdd>
HWY_INLINE V32 Dot(V16 a) {
  const D32 d32;
#if HWY_ARCH_X86
  const auto factors = hn::BitCast(
      D16(), hn::Set(d32, static_cast<std::int32_t>(
                              static_cast<std::uint32_t>(kOdd) << 16 |
                              (static_cast<std::uint32_t>(kEven) & 0xFFFF))));
  V32 unused = hn::Undefined(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, factors, hn::Zero(d32), unused);
#else
  const V32 pairs = hn::BitCast(d32, a);
  const V32 even = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
  return hn::Add(hn::Mul(even, hn::Set(d32, kEven)),
                 hn::Mul(hn::ShiftRight<16>(pairs), hn::Set(d32, kOdd)));
#endif
}

// sum + the same.
template <int kEven, int kOdd>
HWY_INLINE V32 DotAdd(V32 sum, V16 a) {
  return hn::Add(sum, Dot<kEven, kOdd>(a));
}

// Half of the columns of eight rows: four in a lane, two rows interleaved.
struct PairedRows {
  V16 p04;
  V16 p26;
  V16 p71;
  V16 p35;
};

// The eight results of a pass for four columns a block, not yet shifted.
struct WideRows {
  V32 row[8];
};

HWY_INLINE WideRows Butterflies(V32 even0, V32 even1, V32 even2, V32 even3,
                                V32 odd0, V32 odd1, V32 odd2, V32 odd3) {
  return {{hn::Add(even0, odd0), hn::Add(even1, odd1), hn::Add(even2, odd2),
           hn::Add(even3, odd3), hn::Sub(even3, odd3), hn::Sub(even2, odd2),
           hn::Sub(even1, odd1), hn::Sub(even0, odd0)}};
}

// One pass over eight rows, `half` added to each result. Requires: rows 0 and 4
// have a sum and a difference of 16 bits.
HWY_INLINE WideRows FullPass(const PairedRows& in, V32 half) {
  const V32 sum = DotAdd<kOne, kOne>(half, in.p04);
  const V32 difference = DotAdd<kOne, -kOne>(half, in.p04);
  const V16 turned = hn::Add(in.p71, in.p35);  // wraps at 16 bits
  const V32 a = Dot<kC1175 - kC1961, kC1175>(turned);
  const V32 b = Dot<kC1175, kC1175 - kC0390>(turned);
  return Butterflies(DotAdd<kC0541 + kC0765, kC0541>(sum, in.p26),
                     DotAdd<kC0541, kC0541 - kC1847>(difference, in.p26),
                     DotAdd<-kC0541, kC1847 - kC0541>(difference, in.p26),
                     DotAdd<-kC0541 - kC0765, -kC0541>(sum, in.p26),
                     DotAdd<-kC0899, kC1501 - kC0899>(b, in.p71),
                     DotAdd<kC3072 - kC2562, -kC2562>(a, in.p35),
                     DotAdd<-kC2562, kC2053 - kC2562>(b, in.p35),
                     DotAdd<kC0298 - kC0899, -kC0899>(a, in.p71));
}

// The same where rows 4 to 7 are zero; rows 0 and 2 and rows 3 and 1
// interleaved.
HWY_INLINE WideRows CornerPass(V16 p02, V16 p31, V32 half) {
  return Butterflies(DotAdd<kOne, kC0541 + kC0765>(half, p02),
                     DotAdd<kOne, kC0541>(half, p02),
                     DotAdd<kOne, -kC0541>(half, p02),
                     DotAdd<kOne, -kC0541 - kC0765>(half, p02),
                     Dot<kC1175, kC1501 - kC0899 + kC1175 - kC0390>(p31),
                     Dot<kC3072 - kC2562 + kC1175 - kC1961, kC1175>(p31),
                     Dot<kC1175 - kC2562, kC1175 - kC0390>(p31),
                     Dot<kC1175 - kC1961, kC1175 - kC0899>(p31));
}

// Shifts the results of both halves, and clamps them to 16 bits.
template <int kShift>
HWY_INLINE V16 Narrow(V32 low, V32 high) {
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(low),
                              hn::ShiftRight<kShift>(high));
}

#if HWY_ARCH_X86

// In each 128-bit lane two pairs of a, then two of b, as kPlaces says: two bits
// each, the lowest first.
template <int kPlaces>
HWY_INLINE V16 ShufflePairs(V16 a, V16 b) {
  const hn::Repartition<float, D16> d;
  const auto x = hn::BitCast(d, a);
  const auto y = hn::BitCast(d, b);
#if HWY_TARGET <= HWY_AVX3
  const decltype(x) pairs{_mm512_shuffle_ps(x.raw, y.raw, kPlaces)};
#elif HWY_TARGET == HWY_AVX2
  const decltype(x) pairs{_mm256_shuffle_ps(x.raw, y.raw, kPlaces)};
#else
  const decltype(x) pairs{_mm_shuffle_ps(x.raw, y.raw, kPlaces)};
#endif
  return hn::BitCast(D16(), pairs);
}

#endif

// Four rows, two neighbours of each a pair, turned: pair by pair, row by row.
HWY_INLINE PairedRows TurnPairs(V16 row0, V16 row1, V16 row2, V16 row3) {
  const D32 d32;
  const D64 d64;
  const V32 r0 = hn::BitCast(d32, row0);
  const V32 r1 = hn::BitCast(d32, row1);
  const V32 r2 = hn::BitCast(d32, row2);
  const V32 r3 = hn::BitCast(d32, row3);
  const auto a = hn::BitCast(d64, hn::InterleaveLower(d32, r0, r1));
  const auto b = hn::BitCast(d64, hn::InterleaveLower(d32, r2, r3));
  const auto c = hn::BitCast(d64, hn::InterleaveUpper(d32, r0, r1));
  const auto d = hn::BitCast(d64, hn::InterleaveUpper(d32, r2, r3));
  const D16 d16;
  return {hn::BitCast(d16, hn::InterleaveLower(d64, a, b)),
          hn::BitCast(d16, hn::InterleaveUpper(d64, a, b)),
          hn::BitCast(d16, hn::InterleaveLower(d64, c, d)),
          hn::BitCast(d16, hn::InterleaveUpper(d64, c, d))};
}

// Both clamped to bytes: a's lanes, then b's, block by block.
HWY_INLINE V8 NarrowToBytes(V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX3
  return V8{_mm512_packs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packs_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return V8{_mm_packs_epi16(a.raw, b.raw)};
#else
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

// Samples of blocks: rows 2 * i and 2 * i + 1 of each.
struct Samples {
  V8 rows[4];
};

// Turns eight columns of results into rows of samples.
HWY_INLINE Samples TurnToSamples(const V16 (&column)[8]) {
  const D8 d8;
  const D16 d16;
  const D32 d32;
  const auto turn = [&](V16 c0, V16 c1, V16 c2, V16 c3, V16& low,
                        V16& high) HWY_ATTR {
    const V8 even = NarrowToBytes(c0, c2);
    const V8 odd = NarrowToBytes(c1, c3);
    const auto c01 = hn::BitCast(d16, hn::InterleaveLower(d8, even, odd));
    const auto c23 = hn::BitCast(d16, hn::InterleaveUpper(d8, even, odd));
    low = hn::InterleaveLower(d16, c01, c23);
    high = hn::InterleaveUpper(d16, c01, c23);
  };
  V16 left[2];
  V16 right[2];
  turn(column[0], column[1], column[2], column[3], left[0], left[1]);
  turn(column[4], column[5], column[6], column[7], right[0], right[1]);
  Samples samples;
  for (int i = 0; i < 2; ++i) {
    const V32 l = hn::BitCast(d32, left[i]);
    const V32 r = hn::BitCast(d32, right[i]);
    const V8 center = hn::Set(d8, -128);
    samples.rows[2 * i] =
        hn::Xor(hn::BitCast(d8, hn::InterleaveLower(d32, l, r)), center);
    samples.rows[2 * i + 1] =
        hn::Xor(hn::BitCast(d8, hn::InterleaveUpper(d32, l, r)), center);
  }
  return samples;
}

#endif  // HWY_TARGET

}  // namespace idct
}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
