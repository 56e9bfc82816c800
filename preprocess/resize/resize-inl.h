// The passes of kernels.h for each instruction set.
#if defined(INFEED_PREPROCESS_RESIZE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_RESIZE_INL_H_
#undef INFEED_PREPROCESS_RESIZE_INL_H_
#else
#define INFEED_PREPROCESS_RESIZE_INL_H_
#endif

#include <array>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/pixels/pack.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if INFEED_RESIZE_VECTORS

// Rounds the first pass's sums and stores them next to those of the other row
// of the pair: even slots are the low halves.
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
      const V8 bytes = LoadPixels(row, group.at.offsets.data() + i);
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
  // The samples 0 and the upper halves of the 16-bit numbers are zero.
  constexpr __mmask64 kBytes = 0x5550555055505550;
  const __m512i six = _mm512_set1_epi8(6);
  for (const ColumnGroup& group : columns.groups()) {
    const __m512i places = _mm512_load_si512(group.at.places.data());
    const __m512i bytes = _mm512_loadu_si512(row + group.at.base);
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

// Computes a vector of the second pass's levels.
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

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights,
               const PixelRow& row) {
  const V16 weights01 = SetPairs(weights.data());
  const V16 weights23 = SetPairs(weights.data() + 2);
  WritePixels(
      [&](int x) HWY_ATTR {
        const auto blend = [&](int i) HWY_ATTR {
          return BlendVector(rows, x + i * kVectorPixels, weights01, weights23);
        };
        return PackLevels(blend(0), blend(1), blend(2), blend(3));
      },
      row);
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
        const std::uint8_t* const taps = row + group.at.offsets[i] + channel;
        out[8 * i + 2 * (3 - channel)] =
            RoundToRow(taps[0] * first[0] + taps[3] * first[1] +
                       taps[6] * last[0] + taps[9] * last[1]);
      }
    }
    ++rows;
  }
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights,
               const PixelRow& row) {
  for (std::size_t x = 0; x < row.pixels.size(); ++x) {
    const std::int16_t* const upper = rows[x / 4].pairs[0].data() + x % 4 * 8;
    const std::int16_t* const lower = rows[x / 4].pairs[1].data() + x % 4 * 8;
    const auto level = [&](int channel) {
      const int k = 2 * (3 - channel);
      return RoundToLevel(upper[k] * weights[0] + upper[k + 1] * weights[1] +
                          lower[k] * weights[2] + lower[k + 1] * weights[3]);
    };
    row.pixels[x] = PackPixel(level(0), level(1), level(2));
  }
  row.AddToHash();
}

#endif  // INFEED_RESIZE_VECTORS

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_RESIZE_INL_H_
