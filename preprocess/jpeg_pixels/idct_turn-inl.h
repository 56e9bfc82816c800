// The transpositions of the inverse DCT on vectors: from rows to columns
// between its passes, and to rows of samples after them.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_TURN_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_TURN_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_TURN_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_TURN_INL_H_
#endif

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/idct_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {
namespace idct {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

#if HWY_ARCH_X86

// In each 128-bit lane, two pairs of a, then two of b. kPlaces selects them by
// two bits each, the lowest first.
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

// From pairs in columns 0 4 2 6 and 7 1 3 5, selects those in columns 0 2 3 1.
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

// The first pass's results for half of the columns, transposed: from all rows
// of four columns to two pairs of columns, of rows 0 to 3 and 4 to 7.
struct TurnedRows {
  V16 even_top;
  V16 even_bottom;
  V16 odd_top;
  V16 odd_bottom;
};

// Shifts, clamps to 16 bits and transposes.
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

// Clamps both to bytes: a's lanes, then b's, block by block.
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

// Joins the left and right halves of two of the four rows of each block in a
// lane, and makes them unsigned.
template <int kHalf>
HWY_INLINE V8 JoinHalves(V32 left, V32 right) {
#if HWY_TARGET <= HWY_AVX3
  const __m512i first = _mm512_setr_epi32(0, 16, 4, 20, 8, 24, 12, 28, 1, 17, 5,
                                          21, 9, 25, 13, 29);
  const __m512i places = _mm512_add_epi32(first, _mm512_set1_epi32(2 * kHalf));
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

// Shifts and interleaves two columns of results of the second pass.
template <int kShift>
HWY_INLINE V16 ShiftTwo(V32 even, V32 odd) {
  const D16 d16;
  return hn::ShiftRight<kShift - 16>(hn::OddEven(
      hn::BitCast(d16, odd), hn::BitCast(d16, hn::ShiftRight<16>(even))));
}

// Transposes columns of results of the second pass, in rows 0 to 3 and 4 to 7,
// to rows of samples.
HWY_INLINE Samples TurnToSamples(const WideRows& top, const WideRows& bottom) {
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
  return {{JoinHalves<0>(left[0], right[0]), JoinHalves<1>(left[0], right[0]),
           JoinHalves<0>(left[1], right[1]), JoinHalves<1>(left[1], right[1])}};
}

#endif  // HWY_TARGET

}  // namespace idct
}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_TURN_INL_H_
