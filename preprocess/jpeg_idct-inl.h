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

#include "preprocess/jpeg_idct_pass-inl.h"
#include "preprocess/jpeg_idct_scalar.h"
#include "preprocess/jpeg_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace idct {

// Neighbours that are transformed together.
constexpr int kGroup = static_cast<int>(HWY_LANES(std::int16_t)) / 8;
using Group = std::array<const std::int16_t*, kGroup>;

// Coefficients in zigzag order that lie in rows and columns 0 to 3.
constexpr int kCornerEnd = 10;

// Rows 0 and 2, rows 3 and 1 of a group's corners, as CornerPass() takes them.
struct PairedCorner {
  V16 p02;
  V16 p31;
};

// Both halves of a group's columns.
struct PairedGroup {
  PairedRows low;
  PairedRows high;
};

#if HWY_TARGET <= HWY_AVX3

// 128-bit lane i of each of four vectors, for i = 0 to 3.
HWY_INLINE void TurnLanes(__m512i a, __m512i b, __m512i c, __m512i d,
                          V16 (&lanes)[4]) {
  const __m512i low_ab = _mm512_shuffle_i32x4(a, b, 0x44);
  const __m512i low_cd = _mm512_shuffle_i32x4(c, d, 0x44);
  const __m512i high_ab = _mm512_shuffle_i32x4(a, b, 0xEE);
  const __m512i high_cd = _mm512_shuffle_i32x4(c, d, 0xEE);
  lanes[0] = V16{_mm512_shuffle_i32x4(low_ab, low_cd, 0x88)};
  lanes[1] = V16{_mm512_shuffle_i32x4(low_ab, low_cd, 0xDD)};
  lanes[2] = V16{_mm512_shuffle_i32x4(high_ab, high_cd, 0x88)};
  lanes[3] = V16{_mm512_shuffle_i32x4(high_ab, high_cd, 0xDD)};
}

// Where a block in zigzag order has what kPairedOrder has at each place.
alignas(64) inline constexpr std::array<std::int16_t, 64> kPairsOfZigzag = [] {
  std::array<std::int16_t, 64> places{};
  for (std::size_t i = 0; i < 64; ++i) {
    places[i] = PlaceOf(kZigzagOrder, kPairedOrder[i]);
  }
  return places;
}();

HWY_INLINE PairedGroup LoadGroup(const Group& blocks,
                                 const std::int16_t* quantiser) {
  const __m512i first = _mm512_load_si512(kPairsOfZigzag.data());
  const __m512i second = _mm512_load_si512(kPairsOfZigzag.data() + 32);
  const __m512i first_quantiser = _mm512_loadu_si512(quantiser);
  const __m512i second_quantiser = _mm512_loadu_si512(quantiser + 32);
  __m512i even[4];
  __m512i odd[4];
  for (int i = 0; i < 4; ++i) {
    const __m512i a =
        _mm512_mullo_epi16(_mm512_loadu_si512(blocks[i]), first_quantiser);
    const __m512i b = _mm512_mullo_epi16(_mm512_loadu_si512(blocks[i] + 32),
                                         second_quantiser);
    even[i] = _mm512_permutex2var_epi16(a, first, b);
    odd[i] = _mm512_permutex2var_epi16(a, second, b);
  }
  V16 e[4];
  V16 o[4];
  TurnLanes(even[0], even[1], even[2], even[3], e);
  TurnLanes(odd[0], odd[1], odd[2], odd[3], o);
  return {{e[0], e[2], o[0], o[2]}, {e[1], e[3], o[1], o[3]}};
}

// The same for the corner, in four blocks of which the first 16 numbers are in
// two registers; what is behind the corner's end is zero.
template <int kEven, int kOdd>
alignas(64) inline constexpr std::array<std::int16_t, 32> kCornerOfZigzag = [] {
  std::array<std::int16_t, 32> places{};
  for (std::size_t i = 0; i < 32; ++i) {
    constexpr std::array<int, 4> columns = {0, 2, 3, 1};
    const int row = i % 2 == 0 ? kEven : kOdd;
    const int place = PlaceOf(
        kZigzagOrder, static_cast<std::uint8_t>(8 * row + columns[i % 8 / 2]));
    places[i] =
        static_cast<std::int16_t>(i / 8 * 16 + std::min(place, kCornerEnd));
  }
  return places;
}();

HWY_INLINE PairedCorner LoadCorner(const Group& blocks) {
  const auto load = [&](int i) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(blocks[i]));
  };
  const __m512i ab =
      _mm512_inserti64x4(_mm512_castsi256_si512(load(0)), load(1), 1);
  const __m512i cd =
      _mm512_inserti64x4(_mm512_castsi256_si512(load(2)), load(3), 1);
  const __m512i p02 = _mm512_load_si512(kCornerOfZigzag<0, 2>.data());
  const __m512i p31 = _mm512_load_si512(kCornerOfZigzag<3, 1>.data());
  return {V16{_mm512_permutex2var_epi16(ab, p02, cd)},
          V16{_mm512_permutex2var_epi16(ab, p31, cd)}};
}

#else

// One lane of each block.
HWY_INLINE V16 LoadLanes(const Group& blocks, int place) {
  const hn::Full128<std::int16_t> lane;
#if HWY_TARGET == HWY_AVX2
  return hn::Combine(D16(), hn::LoadU(lane, blocks[1] + place),
                     hn::LoadU(lane, blocks[0] + place));
#else
  return hn::LoadU(lane, blocks[0] + place);
#endif
}

HWY_INLINE PairedGroup LoadGroup(const Group& blocks,
                                 const std::int16_t* quantiser) {
  const auto load = [&](int place) HWY_ATTR {
    return hn::Mul(LoadLanes(blocks, place),
                   hn::LoadDup128(D16(), quantiser + place));
  };
  return {{load(0), load(16), load(32), load(48)},
          {load(8), load(24), load(40), load(56)}};
}

// Of pairs in columns 0 4 2 6 and 7 1 3 5 it takes those in 0 2 3 1.
HWY_INLINE PairedCorner LoadCorner(const Group& blocks) {
  const auto load = [&](int place) HWY_ATTR {
    return ShufflePairs<0x68>(LoadLanes(blocks, place),
                              LoadLanes(blocks, place + 8));
  };
  const V16 p20 =
      hn::BitCast(D16(), hn::ShiftLeft<16>(hn::BitCast(D32(), load(16))));
  return {hn::OddEven(p20, load(0)), hn::OddEven(load(32), load(48))};
}

#endif  // HWY_AVX3

// Writes a group's samples.
HWY_INLINE void StoreGroup(const Samples& samples, std::uint8_t* out,
                           std::ptrdiff_t stride) {
  const hn::Half<D8> half;
  auto* row = reinterpret_cast<std::int8_t*>(out);
  for (const V8 rows : samples.rows) {
    hn::StoreU(hn::LowerHalf(half, rows), half, row);
    hn::StoreU(hn::UpperHalf(half, rows), half, row + stride);
    row += 2 * stride;
  }
}

// Gathers how large the numbers are that the callers' contract names.
struct Magnitudes {
  V16 first;   // those limited to 8191, or-ed
  V16 second;  // those limited to 16383

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

constexpr int kFirstShift = 11;
constexpr int kSecondShift = 18;

HWY_INLINE Samples TransformFull(const PairedGroup& in, Magnitudes& seen) {
  const D32 d32;
  seen.first = Magnitudes::With(seen.first, in.low.p04, in.high.p04);
  const V32 half = hn::Set(d32, 1 << (kFirstShift - 1));
  const TurnedRows left = Turn(FullPass(in.low, half));
  const TurnedRows right = Turn(FullPass(in.high, half));
  const PairedRows top{left.even_top, left.odd_top, right.even_top,
                       right.odd_top};
  const PairedRows bottom{left.even_bottom, left.odd_bottom, right.even_bottom,
                          right.odd_bottom};
  seen.second = Magnitudes::With(seen.second, top.p04, bottom.p04);
  const V32 second_half = hn::Set(d32, 1 << (kSecondShift - 1));
  return TurnToSamples(FullPass(top, second_half),
                       FullPass(bottom, second_half));
}

HWY_INLINE Samples TransformCorner(const PairedCorner& in,
                                   const PairedCorner& quantiser,
                                   Magnitudes& seen) {
  const D16 d16;
  const D32 d32;
  const V16 even = hn::BitCast(d16, hn::Set(d32, 0xFFFF));
  const V16 p02 = hn::Mul(in.p02, quantiser.p02);
  const V16 p31 = hn::Mul(in.p31, quantiser.p31);
  seen.first = hn::Or(seen.first, hn::And(hn::Abs(p02), even));
  const TurnedRows rows =
      Turn(CornerPass(p02, p31, hn::Set(d32, 1 << (kFirstShift - 1))));
  seen.second = hn::Or(
      seen.second,
      hn::And(hn::Or(hn::Abs(rows.even_top), hn::Abs(rows.even_bottom)), even));
  const V32 half = hn::Set(d32, 1 << (kSecondShift - 1));
  return TurnToSamples(CornerPass(rows.even_top, rows.odd_top, half),
                       CornerPass(rows.even_bottom, rows.odd_bottom, half));
}

// The samples of a block that has DC only. False: extreme.
HWY_INLINE bool FillFlat(int dc, std::uint8_t* out, std::ptrdiff_t stride) {
  const int sample = std::clamp(((dc + 4) >> 3) + 128, 0, 255);
  const std::uint64_t row = 0x0101010101010101U * static_cast<unsigned>(sample);
  for (int y = 0; y < 8; ++y) {
    std::memcpy(out + y * stride, &row, sizeof row);
  }
  return dc >= -4095 && dc <= 4095;
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
      for (int j = 0; j < kGroup; ++j) {
        regular &=
            FillFlat(static_cast<std::int16_t>(group[j][0] * quantiser[0]),
                     place + 8 * j, stride);
      }
    }
  }
  return regular && seen.Regular();
}

// The same for fewer blocks than a group has.
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
// are the 64 at coefficients + 64 * blocks[i], of which none behind the first
// ends[blocks[i]] in zigzag order is other than zero; its 8x8 samples go to
// out + 8 * i, rows stride apart. Coefficients and quantiser are in the order
// of kStoredPlace. Samples are those of libjpeg-turbo's JDCT_ISLOW (see
// jpeg_idct_scalar.h); false where InverseDctBlock() says so.
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
  static_cast<void>(ends);
  bool regular = true;
  for (int i = 0; i < count; ++i) {
    regular &= InverseDctBlock(coefficients + std::ptrdiff_t{64} * blocks[i],
                               quantiser, out + 8 * i, stride);
  }
  return regular;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_INL_H_
