// Shared code of all resize passes on x86-64, where a pixel takes 128 bits of a
// vector as four 32-bit sums; other CPUs use plain loops.
#if defined(INFEED_PREPROCESS_RESIZE_VECTORS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_RESIZE_VECTORS_INL_H_
#undef INFEED_PREPROCESS_RESIZE_VECTORS_INL_H_
#else
#define INFEED_PREPROCESS_RESIZE_VECTORS_INL_H_
#endif

#include <array>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "preprocess/resize/kernels.h"

#undef INFEED_RESIZE_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define INFEED_RESIZE_VECTORS 1
#else
#define INFEED_RESIZE_VECTORS 0
#endif

#if INFEED_RESIZE_VECTORS
HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Pixels in a vector as sums.
constexpr int kVectorPixels = static_cast<int>(HWY_LANES(std::int32_t)) / 4;
// Pixels in a vector when packed.
constexpr int kStep = 4 * kVectorPixels;

// Adds up products of neighbours: a[2i] * b[2i] + a[2i + 1] * b[2i + 1] + sum.
HWY_INLINE V32 MulAddPairs(V16 a, V16 b, V32 sum) {
#if HWY_TARGET <= HWY_AVX3_DL
  // By name: Highway 1.0.3 does not enable it for the compiler, though this
  // target's CPUs have it.
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
#else
  V32 unused = sum;
  return hn::ReorderWidenMulAccumulate(D32(), a, b, sum, unused);
#endif
}

// Repeats a pair of numbers in every lane.
HWY_INLINE V16 SetPairs(const std::int16_t* pair) {
  std::int32_t both;
  std::memcpy(&both, pair, sizeof(both));
  return hn::BitCast(D16(), hn::Set(D32(), both));
}

// The vector of which lane(i) returns the i-th 128 bits.
template <typename Lane>
HWY_INLINE V8 CombineLanes(const Lane& lane) {
#if HWY_TARGET <= HWY_AVX3
  const hn::Full256<std::uint8_t> half;
  return hn::Combine(D8(), hn::Combine(half, lane(3), lane(2)),
                     hn::Combine(half, lane(1), lane(0)));
#elif HWY_TARGET <= HWY_AVX2
  return hn::Combine(D8(), lane(1), lane(0));
#else
  return lane(0);
#endif
}

// The 16 bytes at row + offsets[i] for each of a vector's lanes.
HWY_INLINE V8 LoadPixels(const std::uint8_t* row, const std::int32_t* offsets) {
  return CombineLanes([&](int i) HWY_ATTR {
    return hn::LoadU(hn::Full128<std::uint8_t>(), row + offsets[i]);
  });
}

// The bytes of a pixel's first two taps as 16-bit numbers, in the order of the
// samples 0 B G R; and those of its last two.
alignas(16) constexpr std::array<std::uint8_t, 16> kFirstTaps = {
    0x80, 0x80, 0x80, 0x80, 2, 0x80, 5, 0x80,
    1,    0x80, 4,    0x80, 0, 0x80, 3, 0x80};
alignas(16) constexpr std::array<std::uint8_t, 16> kLastTaps = {
    0x80, 0x80, 0x80, 0x80, 8, 0x80, 11, 0x80,
    7,    0x80, 10,   0x80, 6, 0x80, 9,  0x80};

// Reorders packed pixels, as packing works within 128-bit blocks.
HWY_INLINE V32 InOrder(V32 packed) {
#if HWY_TARGET <= HWY_AVX3
  alignas(64) static constexpr std::array<std::int32_t, 16> kOrder = {
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return hn::TableLookupLanes(packed,
                              hn::SetTableIndices(D32(), kOrder.data()));
#elif HWY_TARGET <= HWY_AVX2
  alignas(32) static constexpr std::array<std::int32_t, 8> kOrder = {
      0, 4, 1, 5, 2, 6, 3, 7};
  return hn::TableLookupLanes(packed,
                              hn::SetTableIndices(D32(), kOrder.data()));
#else
  return packed;
#endif
}

// In each 128-bit block a's numbers, then b's, clamped to 0..255.
HWY_INLINE V8 ClampToBytes(V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX3
  return V8{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return V8{_mm256_packus_epi16(a.raw, b.raw)};
#else
  return V8{_mm_packus_epi16(a.raw, b.raw)};
#endif
}

// The packed pixels of four vectors of levels, clamped to 0..255.
HWY_INLINE V32 PackLevels(V32 a, V32 b, V32 c, V32 d) {
  const V16 low = hn::ReorderDemote2To(D16(), a, b);
  const V16 high = hn::ReorderDemote2To(D16(), c, d);
  return InOrder(hn::BitCast(D32(), ClampToBytes(low, high)));
}

// Takes states through a round with a vector of pixels. Only AVX3_DL has an
// instruction for several.
template <typename D>
HWY_INLINE void HashVector(D d, hn::Vec<D> pixels, std::uint8_t* states) {
  if constexpr (HWY_TARGET > HWY_AVX3_DL && hn::MaxLanes(d) > 16) {
    const hn::Half<D> half;
    HashVector(half, hn::LowerHalf(half, pixels), states);
    HashVector(half, hn::UpperHalf(half, pixels), states + hn::Lanes(half));
  } else {
    hn::StoreU(hn::AESRound(hn::LoadU(d, states), pixels), d, states);
  }
}

// Writes as many pixels as fill whole vectors; returns their number. Streaming
// stores do not read memory first and leave the cache to the decoder. Others
// do read it: the next row, which follows in most images, is loaded ahead.
template <bool kStreams, bool kHashes, typename Blend>
HWY_INLINE int WriteWholeVectors(const Blend& blend, const PixelRow& row) {
  const hn::RebindToUnsigned<D32> d;
  const int size = static_cast<int>(row.pixels.size());
  std::uint32_t* const pixels = row.pixels.data();
  std::uint8_t* const states = kHashes ? row.hash->states() : nullptr;
  std::size_t place = kHashes ? row.hash->place() : 0;
  int x = 0;
  for (; x + kStep <= size; x += kStep) {
    const auto packed = hn::BitCast(d, blend(x));
    if constexpr (kStreams) {
      hn::Stream(packed, d, pixels + x);
    } else {
      hn::StoreU(packed, d, pixels + x);
      hwy::Prefetch(pixels + x + size);
    }
    if constexpr (kHashes) {
      HashVector(D8(), hn::BitCast(D8(), packed), states + place);
      place = (place + kStep * sizeof(*pixels)) % PixelHash::kBlockBytes;
    }
  }
  if constexpr (kHashes) {
    row.hash->Skip(row.pixels.size_bytes());
  }
  return x;
}

template <bool kHashes, typename Blend>
HWY_INLINE int WriteWholeVectors(const Blend& blend, const PixelRow& row) {
  constexpr std::size_t kBytes = kStep * sizeof(row.pixels[0]);
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(row.pixels.data()) % kBytes == 0;
  return is_aligned && !row.cached
             ? WriteWholeVectors<true, kHashes>(blend, row)
             : WriteWholeVectors<false, kHashes>(blend, row);
}

// Writes pixels; blend(x) returns kStep packed pixels from x on, and may be
// called for pixels beyond the last. A pool's slots are larger than the caches:
// unless the pixels are to stay there, aligned ones are written past them.
template <typename Blend>
HWY_INLINE void WritePixels(const Blend& blend, const PixelRow& row) {
  const int x = row.hash != nullptr ? WriteWholeVectors<true>(blend, row)
                                    : WriteWholeVectors<false>(blend, row);
  const int size = static_cast<int>(row.pixels.size());
  if (x < size) {
    HWY_ALIGN std::array<std::int32_t, kStep> rest;
    hn::Store(blend(x), D32(), rest.data());
    std::memcpy(&row.pixels[x], rest.data(),
                sizeof(std::uint32_t) * (size - x));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();
#endif  // INFEED_RESIZE_VECTORS

#endif  // INFEED_PREPROCESS_RESIZE_VECTORS_INL_H_
