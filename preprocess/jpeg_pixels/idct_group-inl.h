// Loads and stores groups of neighbouring blocks, which the inverse DCT
// transforms together in registers.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_GROUP_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_GROUP_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_GROUP_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_GROUP_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_pixels/idct_pass-inl.h"
#include "preprocess/jpeg_pixels/idct_turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {
namespace idct {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

// Blocks that are transformed together.
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

// 128-bit lane i of each of four vectors, for i = 0 to 3; b and d have their
// halves exchanged, which saves half of the shuffles.
HWY_INLINE void TurnLanes(__m512i a, __m512i b, __m512i c, __m512i d,
                          V16 (&lanes)[4]) {
  const __m512i low_ab = _mm512_mask_blend_epi64(0xF0, a, b);
  const __m512i low_cd = _mm512_mask_blend_epi64(0xF0, c, d);
  const __m512i high_ba = _mm512_mask_blend_epi64(0xF0, b, a);
  const __m512i high_dc = _mm512_mask_blend_epi64(0xF0, d, c);
  lanes[0] = V16{_mm512_shuffle_i32x4(low_ab, low_cd, 0x88)};
  lanes[1] = V16{_mm512_shuffle_i32x4(low_ab, low_cd, 0xDD)};
  lanes[2] = V16{_mm512_shuffle_i32x4(high_ba, high_dc, 0x22)};
  lanes[3] = V16{_mm512_shuffle_i32x4(high_ba, high_dc, 0x77)};
}

// For each place in half kHalf of kPairedOrder, the place in zigzag order of
// the same coefficient; with the two parts of that half exchanged or not.
template <int kHalf, bool kExchanged>
alignas(64) inline constexpr std::array<std::int16_t, 32> kPairsOfZigzag = [] {
  std::array<std::int16_t, 32> places{};
  for (std::size_t i = 0; i < 32; ++i) {
    places[kExchanged ? i ^ 16 : i] =
        PlaceOf(kZigzagOrder, kPairedOrder[32 * kHalf + i]);
  }
  return places;
}();

template <int kHalf>
HWY_INLINE void LoadHalf(const __m512i (&first)[4], const __m512i (&second)[4],
                         V16 (&lanes)[4]) {
  const __m512i plain = _mm512_load_si512(kPairsOfZigzag<kHalf, false>.data());
  const __m512i exchanged =
      _mm512_load_si512(kPairsOfZigzag<kHalf, true>.data());
  TurnLanes(_mm512_permutex2var_epi16(first[0], plain, second[0]),
            _mm512_permutex2var_epi16(first[1], exchanged, second[1]),
            _mm512_permutex2var_epi16(first[2], plain, second[2]),
            _mm512_permutex2var_epi16(first[3], exchanged, second[3]), lanes);
}

HWY_INLINE PairedGroup LoadGroup(const Group& blocks,
                                 const std::int16_t* quantiser) {
  const __m512i first_quantiser = _mm512_loadu_si512(quantiser);
  const __m512i second_quantiser = _mm512_loadu_si512(quantiser + 32);
  __m512i first[4];
  __m512i second[4];
  for (int i = 0; i < 4; ++i) {
    first[i] =
        _mm512_mullo_epi16(_mm512_loadu_si512(blocks[i]), first_quantiser);
    second[i] = _mm512_mullo_epi16(_mm512_loadu_si512(blocks[i] + 32),
                                   second_quantiser);
  }
  V16 even[4];
  V16 odd[4];
  LoadHalf<0>(first, second, even);
  LoadHalf<1>(first, second, odd);
  return {{even[0], even[2], odd[0], odd[2]},
          {even[1], even[3], odd[1], odd[3]}};
}

// Places of the corner's rows kEven and kOdd in four blocks whose first 16
// numbers are in two registers; numbers behind the corner's end are zero.
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

HWY_INLINE PairedCorner LoadCorner(const Group& blocks) {
  const auto load = [&](int place) HWY_ATTR {
    return CornerColumns(LoadLanes(blocks, place),
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

#endif  // HWY_TARGET

}  // namespace idct
}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_GROUP_INL_H_
