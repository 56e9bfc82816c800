// The passes of kernels.h for each instruction set.
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

#include "preprocess/pixels/pack.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

inline void SplitPixels(const std::uint8_t* rgb, int width,
                        const PlanesRow& row) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    for (int plane = 0; plane < 3; ++plane) {
      row[plane][x] = rgb[plane];
    }
  }
}

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

// The places of the first taps of four pixels that LoadFar() has loaded.
alignas(16) constexpr std::array<std::uint8_t, 16> kFarPlaces = {
    0, 0x80, 1, 0x80, 4, 0x80, 5, 0x80, 8, 0x80, 9, 0x80, 12, 0x80, 13, 0x80};

// The four bytes at row + firsts[i] of each of a vector's pixels.
HWY_INLINE V8 LoadFar(const std::uint8_t* row, const std::int32_t* firsts) {
  return CombineLanes([&](int lane) HWY_ATTR {
    const auto load = [&](int i) HWY_ATTR {
      std::int32_t taps;
      std::memcpy(&taps, row + firsts[4 * lane + i], sizeof(taps));
      return taps;
    };
    return hn::Vec<hn::Full128<std::uint8_t>>{
        _mm_setr_epi32(load(0), load(1), load(2), load(3))};
  });
}

// A vector's first two and last two taps, as 16-bit numbers.
struct PickedTaps {
  V16 first;
  V16 last;
};

// Blends the pixels of a group from a lane on, whose taps pick(plane) returns.
template <bool kOdd, bool kTwoTaps, typename Pick>
HWY_INLINE void BlendVectorColumns(const PlanesRow& row,
                                   const ColumnGroup& group, int lane, int pair,
                                   const Pick& pick, RowsGroup* rows) {
  const D16 d16;
  const int at = 8 * lane;
  const V16 first_weights = hn::Load(d16, group.first_weights.data() + at);
  const V16 last_weights = hn::Load(d16, group.last_weights.data() + at);
  const V32 offset = hn::Set(D32(), kResizeRowOffset);
  for (int plane = 0; plane < 3; ++plane) {
    const auto [first, last] = pick(row[plane]);
    V32 sums = MulAddPairs(first, first_weights, offset);
    if constexpr (!kTwoTaps) {
      sums = MulAddPairs(last, last_weights, sums);
    }
    StoreRow<kOdd>(sums, rows->pairs[pair][plane].data() + at);
  }
}

// kNear: four pixels' taps by one load.
template <bool kOdd, bool kTwoTaps, bool kNear>
void BlendFours(const PlanesRow& row, const ResizeColumns& columns, int pair,
                RowsGroup* HWY_RESTRICT rows) {
  const V8 two = hn::Set(D8(), 2);
  for (const ColumnGroup& group : columns.groups()) {
    for (int lane = 0; lane < kGroups; lane += kVectorPixels) {
      const V8 places = kNear ? hn::Load(D8(), group.places.data() + 16 * lane)
                              : hn::LoadDup128(D8(), kFarPlaces.data());
      const auto pick = [&](const std::uint8_t* plane) HWY_ATTR {
        const V8 bytes = kNear ? LoadPixels(plane, group.offsets.data() + lane)
                               : LoadFar(plane, group.firsts.data() + 4 * lane);
        return PickedTaps{
            hn::BitCast(D16(), hn::TableLookupBytes(bytes, places)),
            hn::BitCast(D16(),
                        hn::TableLookupBytes(bytes, hn::Add(places, two)))};
      };
      BlendVectorColumns<kOdd, kTwoTaps>(row, group, lane, pair, pick, rows);
    }
    ++rows;
  }
}

#if HWY_TARGET <= HWY_AVX3_DL
// All sixteen pixels' bytes by one load and one permutation for each two taps.
template <bool kOdd, bool kTwoTaps>
void BlendGroupColumns(const PlanesRow& row, const ResizeColumns& columns,
                       int pair, RowsGroup* HWY_RESTRICT rows) {
  constexpr __mmask64 kBytes = 0x5555555555555555;
  const __m512i two = _mm512_set1_epi8(2);
  for (const ColumnGroup& group : columns.groups()) {
    const __m512i places = _mm512_load_si512(group.base_places.data());
    const auto pick = [&](const std::uint8_t* plane) HWY_ATTR {
      const __m512i bytes = _mm512_loadu_si512(plane + group.base);
      return PickedTaps{
          V16{_mm512_maskz_permutexvar_epi8(kBytes, places, bytes)},
          V16{_mm512_maskz_permutexvar_epi8(
              kBytes, _mm512_add_epi8(places, two), bytes)}};
    };
    BlendVectorColumns<kOdd, kTwoTaps>(row, group, 0, pair, pick, rows);
    ++rows;
  }
}
#endif

template <bool kOdd, bool kTwoTaps>
void BlendColumnsOf(const PlanesRow& row, const ResizeColumns& columns,
                    int pair, RowsGroup* rows) {
#if HWY_TARGET <= HWY_AVX3_DL
  if (columns.is_group_near()) {
    return BlendGroupColumns<kOdd, kTwoTaps>(row, columns, pair, rows);
  }
#endif
  if (columns.is_near()) {
    return BlendFours<kOdd, kTwoTaps, true>(row, columns, pair, rows);
  }
  BlendFours<kOdd, kTwoTaps, false>(row, columns, pair, rows);
}

void BlendColumns(const PlanesRow& row, const ResizeColumns& columns, int slot,
                  RowsGroup* rows) {
  const auto blend = columns.has_two_taps()
                         ? (slot % 2 == 0 ? BlendColumnsOf<false, true>
                                          : BlendColumnsOf<true, true>)
                         : (slot % 2 == 0 ? BlendColumnsOf<false, false>
                                          : BlendColumnsOf<true, false>);
  blend(row, columns, slot / 2, rows);
}

// The packed pixels of a vector of levels of each colour, clamped to 0..255.
HWY_INLINE V32 PackPlanes(V32 red, V32 green, V32 blue) {
  alignas(16) static constexpr std::array<std::uint8_t, 16> kPlaces = {
      0x80, 0, 4, 8, 0x80, 1, 5, 9, 0x80, 2, 6, 10, 0x80, 3, 7, 11};
  const V16 low = hn::ReorderDemote2To(D16(), blue, green);
  const V16 high = hn::ReorderDemote2To(D16(), red, red);
  return hn::BitCast(
      D32(), hn::TableLookupBytes(ClampToBytes(low, high),
                                  hn::LoadDup128(D8(), kPlaces.data())));
}

template <bool kOnePair>
void BlendPairs(const RowsGroup* rows, V16 weights01, V16 weights23,
                const PixelRow& row) {
  const V32 offset = hn::Set(D32(), kResizeLevelOffset);
  WritePixels(
      [&](int x) HWY_ATTR {
        const RowsGroup& group = rows[x / kUnitPixels];
        const auto level = [&](int plane) HWY_ATTR {
          const int at = x % kUnitPixels * 2;
          V32 sums =
              MulAddPairs(hn::Load(D16(), group.pairs[0][plane].data() + at),
                          weights01, offset);
          if constexpr (!kOnePair) {
            sums =
                MulAddPairs(hn::Load(D16(), group.pairs[1][plane].data() + at),
                            weights23, sums);
          }
          return hn::ShiftRight<kResizeLevelShift>(sums);
        };
        return PackPlanes(level(0), level(1), level(2));
      },
      row);
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights,
               const PixelRow& row) {
  const auto blend =
      weights[2] == 0 && weights[3] == 0 ? BlendPairs<true> : BlendPairs<false>;
  blend(rows, SetPairs(weights.data()), SetPairs(weights.data() + 2), row);
}

// Whole vectors; the last one overlaps the one before it.
void SplitRow(const std::uint8_t* rgb, int width, const PlanesRow& row) {
  const D8 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    if (x + lanes > width) {
      x = width - lanes;
    }
    if (x < 0) {
      return SplitPixels(rgb, width, row);
    }
    V8 red;
    V8 green;
    V8 blue;
    hn::LoadInterleaved3(d, rgb + std::ptrdiff_t{3} * x, red, green, blue);
    hn::StoreU(red, d, row[0] + x);
    hn::StoreU(green, d, row[1] + x);
    hn::StoreU(blue, d, row[2] + x);
  }
}

#else  // plain loops

void SplitRow(const std::uint8_t* rgb, int width, const PlanesRow& row) {
  SplitPixels(rgb, width, row);
}

void BlendColumns(const PlanesRow& row, const ResizeColumns& columns, int slot,
                  RowsGroup* rows) {
  for (const ColumnGroup& group : columns.groups()) {
    for (int plane = 0; plane < 3; ++plane) {
      std::int16_t* const out = rows->pairs[slot / 2][plane].data() + slot % 2;
      for (int i = 0; i < kUnitPixels; ++i) {
        const std::uint8_t* const taps = row[plane] + group.firsts[i];
        out[2 * i] = RoundToRow(taps[0] * group.first_weights[2 * i] +
                                taps[1] * group.first_weights[2 * i + 1] +
                                taps[2] * group.last_weights[2 * i] +
                                taps[3] * group.last_weights[2 * i + 1]);
      }
    }
    ++rows;
  }
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights,
               const PixelRow& row) {
  for (std::size_t x = 0; x < row.pixels.size(); ++x) {
    const auto& pairs = rows[x / kUnitPixels].pairs;
    const std::size_t k = x % kUnitPixels * 2;
    const auto level = [&](int plane) {
      return RoundToLevel(pairs[0][plane][k] * weights[0] +
                          pairs[0][plane][k + 1] * weights[1] +
                          pairs[1][plane][k] * weights[2] +
                          pairs[1][plane][k + 1] * weights[3]);
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
