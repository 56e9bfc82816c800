// The passes of resize_kernels.h for each instruction set. On x86-64 a pixel
// takes 128 bits of a vector as four 32-bit sums; elsewhere the loops are
// plain.
#if defined(INFEED_PREPROCESS_RESIZE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_RESIZE_INL_H_
#undef INFEED_PREPROCESS_RESIZE_INL_H_
#else
#define INFEED_PREPROCESS_RESIZE_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/pack.h"
#include "preprocess/resize.h"
#include "preprocess/resize_columns.h"
#include "preprocess/resize_kernels.h"

#undef INFEED_RESIZE_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define INFEED_RESIZE_VECTORS 1
#else
#define INFEED_RESIZE_VECTORS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if INFEED_RESIZE_VECTORS

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// How many pixels a vector holds while they are sums.
constexpr int kVectorPixels = static_cast<int>(HWY_LANES(std::int32_t)) / 4;
// And when they are packed.
constexpr int kStep = 4 * kVectorPixels;

// Adds up products of neighbours: a[2i] * b[2i] + a[2i + 1] * b[2i + 1] + sum.
HWY_INLINE V32 MulAddPairs(V16 a, V16 b, V32 sum) {
  V32 unused = sum;
  return hn::ReorderWidenMulAccumulate(D32(), a, b, sum, unused);
}

// The 16 bytes at row + offsets[i] for each of a vector's pixels.
HWY_INLINE V8 LoadPixels(const std::uint8_t* row, const std::int32_t* offsets) {
  const hn::Full128<std::uint8_t> d;
  const auto load = [&](int i)
                        HWY_ATTR { return hn::LoadU(d, row + offsets[i]); };
#if HWY_TARGET <= HWY_AVX3
  const hn::Full256<std::uint8_t> half;
  return hn::Combine(D8(), hn::Combine(half, load(3), load(2)),
                     hn::Combine(half, load(1), load(0)));
#elif HWY_TARGET <= HWY_AVX2
  return hn::Combine(D8(), load(1), load(0));
#else
  return load(0);
#endif
}

// Rounds the first pass's sums and puts them beside those of the other row of
// their pair: even slots are the low halves.
template <bool kOdd>
HWY_INLINE void StoreRow(V32 sums, std::int16_t* pair) {
  const D16 d;
  const V16 other = hn::Load(d, pair);
  if constexpr (kOdd) {
    hn::Store(
        hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16 - kResizeRowShift>(sums)),
                    other),
        d, pair);
  } else {
    hn::Store(hn::OddEven(
                  other, hn::BitCast(d, hn::ShiftRight<kResizeRowShift>(sums))),
              d, pair);
  }
}

// The bytes of a pixel's first two taps as 16-bit numbers, in the order of the
// samples 0 B G R; and those of its last two.
alignas(16) constexpr std::array<std::uint8_t, 16> kFirstTaps = {
    0x80, 0x80, 0x80, 0x80, 2, 0x80, 5, 0x80,
    1,    0x80, 4,    0x80, 0, 0x80, 3, 0x80};
alignas(16) constexpr std::array<std::uint8_t, 16> kLastTaps = {
    0x80, 0x80, 0x80, 0x80, 8, 0x80, 11, 0x80,
    7,    0x80, 10,   0x80, 6, 0x80, 9,  0x80};

template <bool kOdd>
void BlendAnyColumns(const std::uint8_t* HWY_RESTRICT row,
                     const ResizeColumns& columns, int pair,
                     RowsGroup* HWY_RESTRICT rows) {
  const D16 d16;
  const V8 first = hn::LoadDup128(D8(), kFirstTaps.data());
  const V8 last = hn::LoadDup128(D8(), kLastTaps.data());
  const V32 offset = hn::Set(D32(), kResizeRowOffset);
  for (const ColumnGroup& group : columns.groups()) {
    for (int i = 0; i < 4; i += kVectorPixels) {
      const V8 bytes = LoadPixels(row, group.offsets.data() + i);
      const V16 taps01 = hn::BitCast(d16, hn::TableLookupBytes(bytes, first));
      const V16 taps23 = hn::BitCast(d16, hn::TableLookupBytes(bytes, last));
      V32 sums = MulAddPairs(
          taps01, hn::Load(d16, group.first_weights.data() + 8 * i), offset);
      sums = MulAddPairs(
          taps23, hn::Load(d16, group.last_weights.data() + 8 * i), sums);
      StoreRow<kOdd>(sums, rows->pairs[pair].data() + 8 * i);
    }
    ++rows;
  }
}

#if HWY_TARGET <= HWY_AVX3_DL
// All four pixels' bytes by one load and one permutation for each two taps.
template <bool kOdd>
void BlendNearColumns(const std::uint8_t* HWY_RESTRICT row,
                      const ResizeColumns& columns, int pair,
                      RowsGroup* HWY_RESTRICT rows) {
  const D16 d16;
  const V32 offset = hn::Set(D32(), kResizeRowOffset);
  // Samples 0, and the upper halves of 16-bit numbers, are zero.
  constexpr __mmask64 kBytes = 0x5550555055505550;
  const __m512i six = _mm512_set1_epi8(6);
  for (const ColumnGroup& group : columns.groups()) {
    const __m512i places = _mm512_load_si512(group.places.data());
    const __m512i bytes = _mm512_loadu_si512(row + group.base);
    const V16 taps01{_mm512_maskz_permutexvar_epi8(kBytes, places, bytes)};
    const V16 taps23{_mm512_maskz_permutexvar_epi8(
        kBytes, _mm512_add_epi8(places, six), bytes)};
    V32 sums =
        MulAddPairs(taps01, hn::Load(d16, group.first_weights.data()), offset);
    sums = MulAddPairs(taps23, hn::Load(d16, group.last_weights.data()), sums);
    StoreRow<kOdd>(sums, rows->pairs[pair].data());
    ++rows;
  }
}
#endif

template <bool kOdd>
void BlendColumnsOf(const std::uint8_t* row, const ResizeColumns& columns,
                    int pair, RowsGroup* rows) {
#if HWY_TARGET <= HWY_AVX3_DL
  if (columns.is_near()) {
    return BlendNearColumns<kOdd>(row, columns, pair, rows);
  }
#endif
  BlendAnyColumns<kOdd>(row, columns, pair, rows);
}

void BlendColumns(const std::uint8_t* row, const ResizeColumns& columns,
                  int slot, RowsGroup* rows) {
  if (slot % 2 == 0) {
    BlendColumnsOf<false>(row, columns, slot / 2, rows);
  } else {
    BlendColumnsOf<true>(row, columns, slot / 2, rows);
  }
}

// The levels of a vector of sums, of the second pass.
HWY_INLINE V32 BlendVector(const RowsGroup* rows, int pixel, V16 weights01,
                           V16 weights23) {
  const D16 d16;
  const RowsGroup& group = rows[pixel / 4];
  const int at = pixel % 4 * 8;
  V32 sums = MulAddPairs(hn::Load(d16, group.pairs[0].data() + at), weights01,
                         hn::Set(D32(), kResizeLevelOffset));
  sums =
      MulAddPairs(hn::Load(d16, group.pairs[1].data() + at), weights23, sums);
  return hn::ShiftRight<kResizeLevelShift>(sums);
}

// Packing keeps to blocks of 128 bits: the places of packed pixels in order.
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

HWY_INLINE V32 BlendPixels(const RowsGroup* rows, int pixel, V16 weights01,
                           V16 weights23) {
  const D16 d16;
  const auto blend = [&](int i) HWY_ATTR {
    return BlendVector(rows, pixel + i * kVectorPixels, weights01, weights23);
  };
  const V16 low = hn::ReorderDemote2To(d16, blend(0), blend(1));
  const V16 high = hn::ReorderDemote2To(d16, blend(2), blend(3));
#if HWY_TARGET <= HWY_AVX3
  const V32 packed{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET <= HWY_AVX2
  const V32 packed{_mm256_packus_epi16(low.raw, high.raw)};
#else
  const V32 packed{_mm_packus_epi16(low.raw, high.raw)};
#endif
  return InOrder(packed);
}

// As many pixels as fill whole vectors; returns how many. The slots of a pool
// of batches are larger than caches: where pixels are aligned, what is written
// goes to memory without being read before, and leaves the cache to the
// decoder.
template <bool kAligned>
int BlendWholeVectors(const RowsGroup* rows, V16 weights01, V16 weights23,
                      int size, std::uint32_t* pixels) {
  const hn::RebindToUnsigned<D32> d;
  int x = 0;
  for (; x + kStep <= size; x += kStep) {
    const auto packed =
        hn::BitCast(d, BlendPixels(rows, x, weights01, weights23));
    if constexpr (kAligned) {
      hn::Stream(packed, d, pixels + x);
    } else {
      hn::StoreU(packed, d, pixels + x);
    }
  }
  return x;
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights, int size,
               std::uint32_t* pixels) {
  const D16 d16;
  const D32 d32;
  std::array<std::int32_t, 2> pairs;
  std::memcpy(pairs.data(), weights.data(), sizeof(pairs));
  const V16 weights01 = hn::BitCast(d16, hn::Set(d32, pairs[0]));
  const V16 weights23 = hn::BitCast(d16, hn::Set(d32, pairs[1]));
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(pixels) % (kStep * sizeof(*pixels)) == 0;
  const int x =
      is_aligned
          ? BlendWholeVectors<true>(rows, weights01, weights23, size, pixels)
          : BlendWholeVectors<false>(rows, weights01, weights23, size, pixels);
  if (x < size) {
    HWY_ALIGN std::array<std::int32_t, kStep> rest;
    hn::Store(BlendPixels(rows, x, weights01, weights23), d32, rest.data());
    std::memcpy(pixels + x, rest.data(), sizeof(*pixels) * (size - x));
  }
}

#else  // plain loops

void BlendColumns(const std::uint8_t* row, const ResizeColumns& columns,
                  int slot, RowsGroup* rows) {
  for (const ColumnGroup& group : columns.groups()) {
    std::int16_t* const out = rows->pairs[slot / 2].data() + slot % 2;
    for (int i = 0; i < 4; ++i) {
      const std::int16_t* const first = group.first_weights.data() + 8 * i;
      const std::int16_t* const last = group.last_weights.data() + 8 * i;
      for (int channel = 0; channel < 3; ++channel) {
        const std::uint8_t* const taps = row + group.offsets[i] + channel;
        out[8 * i + 2 * (3 - channel)] =
            RoundToRow(taps[0] * first[0] + taps[3] * first[1] +
                       taps[6] * last[0] + taps[9] * last[1]);
      }
    }
    ++rows;
  }
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights, int size,
               std::uint32_t* pixels) {
  for (int x = 0; x < size; ++x) {
    const std::int16_t* const upper = rows[x / 4].pairs[0].data() + x % 4 * 8;
    const std::int16_t* const lower = rows[x / 4].pairs[1].data() + x % 4 * 8;
    const auto level = [&](int channel) {
      const int k = 2 * (3 - channel);
      return RoundToLevel(upper[k] * weights[0] + upper[k + 1] * weights[1] +
                          lower[k] * weights[2] + lower[k + 1] * weights[3]);
    };
    pixels[x] = PackPixel(level(0), level(1), level(2));
  }
}

#endif  // INFEED_RESIZE_VECTORS

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_RESIZE_INL_H_
