// Upsampling as in color_scalar.h, for each instruction set, one output row at
// a time. Input rows must be readable 64 bytes before their begin and beyond
// their end, output rows writable 64 bytes beyond their end.
#if defined(INFEED_PREPROCESS_JPEG_UPSAMPLE_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_UPSAMPLE_INL_H_
#undef INFEED_PREPROCESS_JPEG_UPSAMPLE_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_UPSAMPLE_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/color_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace upsample {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::uint16_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
constexpr int kLanes = static_cast<int>(HWY_LANES(std::uint8_t));

// Writes the 128-bit lanes of two vectors alternately, low's first; the second
// half only if more than kLanes / 2 of `count` are left.
HWY_INLINE void StoreLanes(V8 low, V8 high, int count, std::uint8_t* out) {
#if HWY_TARGET <= HWY_AVX3
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const V8 a{_mm512_permutex2var_epi64(low.raw, first, high.raw)};
  const V8 b{_mm512_permutex2var_epi64(low.raw, second, high.raw)};
#elif HWY_TARGET == HWY_AVX2
  const V8 a{_mm256_permute2x128_si256(low.raw, high.raw, 0x20)};
  const V8 b{_mm256_permute2x128_si256(low.raw, high.raw, 0x31)};
#else
  const V8 a = low;
  const V8 b = high;
#endif
  hn::StoreU(a, D8(), out);
  if (count > kLanes / 2) {
    hn::StoreU(b, D8(), out + kLanes);
  }
}

// Average rounded down; AverageRound() rounds up.
HWY_INLINE V8 AverageDown(V8 a, V8 b) {
  return hn::Not(hn::AverageRound(hn::Not(a), hn::Not(b)));
}

// Writes `count` even and odd samples each, interleaved, and at most 64 bytes
// beyond them.
HWY_INLINE void StoreInTurns(V8 even, V8 odd, int count, std::uint8_t* out) {
  StoreLanes(hn::InterleaveLower(D8(), even, odd),
             hn::InterleaveUpper(D8(), even, odd), count, out);
}

// near_weight * near + far_weight * far, for pairs of them.
template <int kNear, int kFar>
HWY_INLINE V16 Weigh(V8 pairs) {
  const D16 d16;
#if HWY_ARCH_X86
  const V16 weights = hn::Set(d16, kFar << 8 | kNear);
#if HWY_TARGET <= HWY_AVX3
  return V16{_mm512_maddubs_epi16(pairs.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(pairs.raw, weights.raw)};
#else
  return V16{_mm_maddubs_epi16(pairs.raw, weights.raw)};
#endif
#else
  const V16 both = hn::BitCast(d16, pairs);
  return hn::Add(hn::Mul(hn::And(both, hn::Set(d16, 255)), hn::Set(d16, kNear)),
                 hn::Mul(hn::ShiftRight<8>(both), hn::Set(d16, kFar)));
#endif
}

// Even and odd samples of half a vector, interleaved, from pairs of near and
// far samples at the centre and to its left and right.
HWY_INLINE V8 BetweenRows(V8 left, V8 center, V8 right) {
  const D16 d16;
  const V16 center3 = Weigh<9, 3>(center);
  const V16 even = hn::ShiftRight<3>(
      hn::AverageRound(hn::Add(center3, hn::Set(d16, 7)), Weigh<3, 1>(left)));
  const V16 odd = hn::ShiftLeft<5>(
      hn::AverageRound(hn::Add(center3, hn::Set(d16, 6)), Weigh<3, 1>(right)));
  return hn::BitCast(D8(), hn::Or(even, hn::And(odd, hn::Set(d16, 0xFF00))));
}

}  // namespace upsample

HWY_MAYBE_UNUSED static void UpsampleH2V1(const std::uint8_t* in, int count,
                                          std::uint8_t* out) {
  using namespace upsample;
  const D8 d;
  for (int i = 0; i < count; i += kLanes) {
    const V8 center = hn::LoadU(d, in + i);
    const V8 left = hn::LoadU(d, in + i - 1);
    const V8 right = hn::LoadU(d, in + i + 1);
    StoreInTurns(AverageDown(center, hn::AverageRound(center, left)),
                 hn::AverageRound(center, AverageDown(center, right)),
                 count - i, out + 2 * i);
  }
}

HWY_MAYBE_UNUSED static void UpsampleH2V2(const std::uint8_t* near,
                                          const std::uint8_t* far, int count,
                                          std::uint8_t* out) {
  using namespace upsample;
  const D8 d;
  for (int i = 0; i < count; i += kLanes) {
    V8 low[3];
    V8 high[3];
    for (int j = 0; j < 3; ++j) {
      const V8 a = hn::LoadU(d, near + i + j - 1);
      const V8 b = hn::LoadU(d, far + i + j - 1);
      low[j] = hn::InterleaveLower(d, a, b);
      high[j] = hn::InterleaveUpper(d, a, b);
    }
    StoreLanes(BetweenRows(low[0], low[1], low[2]),
               BetweenRows(high[0], high[1], high[2]), count - i, out + 2 * i);
  }
}

HWY_MAYBE_UNUSED static void UpsampleH1V2(const std::uint8_t* near,
                                          const std::uint8_t* far, bool lower,
                                          int count, std::uint8_t* out) {
  using namespace upsample;
  const D8 d;
  for (int i = 0; i < count; i += kLanes) {
    const V8 a = hn::LoadU(d, near + i);
    const V8 b = hn::LoadU(d, far + i);
    hn::StoreU(lower ? hn::AverageRound(a, AverageDown(a, b))
                     : AverageDown(a, hn::AverageRound(a, b)),
               d, out + i);
  }
}

HWY_MAYBE_UNUSED static void ReplicateH2(const std::uint8_t* in, int count,
                                         std::uint8_t* out) {
  using namespace upsample;
  for (int i = 0; i < count; i += kLanes) {
    const V8 samples = hn::LoadU(D8(), in + i);
    StoreInTurns(samples, samples, count - i, out + 2 * i);
  }
}

#else

HWY_MAYBE_UNUSED static void UpsampleH2V1(const std::uint8_t* in, int count,
                                          std::uint8_t* out) {
  UpsampleH2V1Row(in, count, out);
}

HWY_MAYBE_UNUSED static void UpsampleH2V2(const std::uint8_t* near,
                                          const std::uint8_t* far, int count,
                                          std::uint8_t* out) {
  UpsampleH2V2Row(near, far, count, out);
}

HWY_MAYBE_UNUSED static void UpsampleH1V2(const std::uint8_t* near,
                                          const std::uint8_t* far, bool lower,
                                          int count, std::uint8_t* out) {
  UpsampleH1V2Row(near, far, lower, count, out);
}

HWY_MAYBE_UNUSED static void ReplicateH2(const std::uint8_t* in, int count,
                                         std::uint8_t* out) {
  ReplicateH2Row(in, count, out);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_UPSAMPLE_INL_H_
