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

// By how much the results of the two passes are shifted.
constexpr int kFirstShift = 11;
constexpr int kSecondShift = 18;

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

// What rounds when a sum is shifted right.
HWY_INLINE V32 Half(int shift) { return hn::Set(D32(), 1 << (shift - 1)); }

// All bits of the first of each pair.
HWY_INLINE V16 EvenLanes() {
  return hn::BitCast(D16(), hn::Set(D32(), 0xFFFF));
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

// In each 128-bit lane the even or the odd pairs of a, then those of b.
HWY_INLINE V16 EvenPairs(V16 a, V16 b) { return ShufflePairs<0x88>(a, b); }
HWY_INLINE V16 OddPairs(V16 a, V16 b) { return ShufflePairs<0xDD>(a, b); }

// Of pairs in columns 0 4 2 6 and 7 1 3 5 those in columns 0 2 3 1.
HWY_INLINE V16 CornerColumns(V16 low, V16 high) {
  return ShufflePairs<0x68>(low, high);
}

#else  // vectors of one lane

HWY_INLINE V16 EvenPairs(V16 a, V16 b) {
  const D32 d;
  return hn::BitCast(D16(),
                     hn::ConcatEven(d, hn::BitCast(d, b), hn::BitCast(d, a)));
}
HWY_INLINE V16 OddPairs(V16 a, V16 b) {
  const D32 d;
  return hn::BitCast(D16(),
                     hn::ConcatOdd(d, hn::BitCast(d, b), hn::BitCast(d, a)));
}

HWY_INLINE V16 CornerColumns(V16 low, V16 high) {
  const D32 d;
  const V32 even = hn::BitCast(d, EvenPairs(low, high));  // 0 2 7 3
  const V32 odd = hn::BitCast(d, OddPairs(low, high));    // 4 6 1 5
  const V32 upper =
      hn::OddEven(hn::Shuffle2301(odd), hn::Shuffle2301(even));  // 2 4 3 1
  return hn::BitCast(D16(), hn::ConcatUpperLower(d, upper, even));
}

#endif

// What the first pass makes of half of the columns, turned: from all rows of
// four columns to two pairs of columns, of rows 0 to 3 and 4 to 7.
struct TurnedRows {
  V16 even_top;
  V16 even_bottom;
  V16 odd_top;
  V16 odd_bottom;
};

// Shifts, clamps to 16 bits and turns.
HWY_INLINE TurnedRows Turn(const WideRows& in) {
  V16 two[4];  // rows
  for (int i = 0; i < 4; ++i) {
    two[i] =
        hn::ReorderDemote2To(D16(), hn::ShiftRight<kFirstShift>(in.row[2 * i]),
                             hn::ShiftRight<kFirstShift>(in.row[2 * i + 1]));
  }
  return {EvenPairs(two[0], two[1]), EvenPairs(two[2], two[3]),
          OddPairs(two[0], two[1]), OddPairs(two[2], two[3])};
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

// Samples of blocks: rows 2 * i and 2 * i + 1, each of all blocks side by side.
struct Samples {
  V8 rows[4];
};

// Joins the left and right halves of two rows of each block, of the four that
// are in a lane, and makes them unsigned.
template <int kHalf>
HWY_INLINE V8 JoinHalves(V32 left, V32 right) {
#if HWY_TARGET <= HWY_AVX3
  constexpr int k = 2 * kHalf;
  const __m512i places = _mm512_setr_epi32(
      k, k + 16, k + 4, k + 20, k + 8, k + 24, k + 12, k + 28, k + 1, k + 17,
      k + 5, k + 21, k + 9, k + 25, k + 13, k + 29);
  const V32 joined{_mm512_permutex2var_epi32(left.raw, places, right.raw)};
#else
  const D32 d32;
  V32 joined = kHalf == 0 ? hn::InterleaveLower(d32, left, right)
                          : hn::InterleaveUpper(d32, left, right);
#if HWY_TARGET == HWY_AVX2
  joined = V32{_mm256_permute4x64_epi64(joined.raw, 0xD8)};
#endif
#endif
  return hn::Xor(hn::Set(D8(), -128), hn::BitCast(D8(), joined));
}

// Two columns of results of the second pass, shifted and interleaved.
template <int kShift>
HWY_INLINE V16 ShiftTwo(V32 even, V32 odd) {
  const D16 d16;
  return hn::ShiftRight<kShift - 16>(hn::OddEven(
      hn::BitCast(d16, odd), hn::BitCast(d16, hn::ShiftRight<16>(even))));
}

// Turns columns of results of the second pass, in rows 0 to 3 and 4 to 7, into
// rows of samples.
HWY_INLINE Samples TurnToSamples(const WideRows& top, const WideRows& bottom) {
  const D8 d8;
  const D16 d16;
  const D32 d32;
  V16 two[4];  // columns
  for (int i = 0; i < 4; ++i) {
    two[i] = hn::BitCast(
        d16,
        NarrowToBytes(
            ShiftTwo<kSecondShift>(top.row[2 * i], top.row[2 * i + 1]),
            ShiftTwo<kSecondShift>(bottom.row[2 * i], bottom.row[2 * i + 1])));
  }
  const V32 left[2] = {
      hn::BitCast(d32, hn::InterleaveLower(d16, two[0], two[1])),
      hn::BitCast(d32, hn::InterleaveUpper(d16, two[0], two[1]))};
  const V32 right[2] = {
      hn::BitCast(d32, hn::InterleaveLower(d16, two[2], two[3])),
      hn::BitCast(d32, hn::InterleaveUpper(d16, two[2], two[3]))};
  Samples samples;
  for (int i = 0; i < 2; ++i) {
    samples.rows[2 * i] = JoinHalves<0>(left[i], right[i]);
    samples.rows[2 * i + 1] = JoinHalves<1>(left[i], right[i]);
  }
  return samples;
}

#endif  // HWY_TARGET

}  // namespace idct
}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
