// Colour conversion as in color_scalar.h, for each instruction set; includes
// upsampling. Input rows must be readable 64 bytes beyond their end. A row is a
// pointer, to which exactly 3 * count bytes R G B are written, or planes.
#if defined(INFEED_PREPROCESS_JPEG_COLOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_COLOR_INL_H_
#undef INFEED_PREPROCESS_JPEG_COLOR_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_COLOR_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/color_scalar.h"
#include "preprocess/jpeg_pixels/upsample-inl.h"
#include "preprocess/pixels/row_sink.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace color {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
constexpr int kLanes = static_cast<int>(HWY_LANES(std::uint8_t));

// a's lanes, then b's, in each 128-bit lane; clamped to bytes.
HWY_INLINE V8 Narrow(V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX3
  return V8{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return V8{_mm_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

// kEven * samples in even places + kOdd * samples in odd ones.
template <int kEven, int kOdd>
HWY_INLINE V16 Dot(V8 samples) {
  const D16 d16;
#if HWY_ARCH_X86
  const V16 factors = hn::Set(
      d16, static_cast<std::int16_t>((kOdd & 0xFF) << 8 | (kEven & 0xFF)));
#if HWY_TARGET <= HWY_AVX3
  return V16{_mm512_maddubs_epi16(samples.raw, factors.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(samples.raw, factors.raw)};
#else
  return V16{_mm_maddubs_epi16(samples.raw, factors.raw)};
#endif
#else
  const hn::RebindToUnsigned<D16> du16;
  const V16 even = hn::And(hn::BitCast(d16, samples), hn::Set(d16, 255));
  const V16 odd =
      hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, samples)));
  return hn::Add(hn::Mul(even, hn::Set(d16, kEven)),
                 hn::Mul(odd, hn::Set(d16, kOdd)));
#endif
}

struct Rgb {
  V8 r;
  V8 g;
  V8 b;
};

struct WideRgb {
  V16 r;
  V16 g;
  V16 b;
};

// Converts half a vector: y, and chroma in pairs. The table of libjpeg for red,
// (91881 * v + 2^15) >> 16 with v = cr - 128, is v + (13173 * v + 2^14) >> 15
// for all v; that for blue likewise. For green, -22554 * u - 46802 * v is 2 *
// (-11277 * u + 9367 * v) - 65536 * v, whose part in brackets is computed as
// 256 * (-44 * cb + 37 * cr) - 13 * cb - 105 * cr + 955 * 256.
HWY_INLINE WideRgb Convert(V8 luma, V8 cb, V8 cr, V8 chroma) {
  const D16 d16;
  const V16 center = hn::Set(d16, 128);
  const V16 y = hn::BitCast(d16, luma);
  const V16 u = hn::Sub(hn::BitCast(d16, cb), center);
  const V16 v = hn::Sub(hn::BitCast(d16, cr), center);
  const V16 high = hn::Add(Dot<-44, 37>(chroma), hn::Set(d16, 955 + 64));
  const V16 low = hn::ShiftRight<8>(Dot<-13, -105>(chroma));
  const V16 y_u = hn::Add(y, u);
  const V16 y_v = hn::Add(y, v);
  return {hn::Add(y_v, hn::MulFixedPoint15(v, hn::Set(d16, 13173))),
          hn::Add(hn::Sub(y, v), hn::ShiftRight<7>(hn::Add(high, low))),
          hn::Add(y_u, hn::MulFixedPoint15(u, hn::Set(d16, 25297)))};
}

HWY_INLINE Rgb ConvertSamples(V8 y, V8 cb, V8 cr) {
  const D8 d;
  const V8 zero = hn::Zero(d);
  const WideRgb low =
      Convert(hn::InterleaveLower(d, y, zero), hn::InterleaveLower(d, cb, zero),
              hn::InterleaveLower(d, cr, zero), hn::InterleaveLower(d, cb, cr));
  const WideRgb high =
      Convert(hn::InterleaveUpper(d, y, zero), hn::InterleaveUpper(d, cb, zero),
              hn::InterleaveUpper(d, cr, zero), hn::InterleaveUpper(d, cb, cr));
  return {Narrow(low.r, high.r), Narrow(low.g, high.g), Narrow(low.b, high.b)};
}

#if HWY_TARGET == HWY_AVX3_DL

// For byte i of R G B R G B ...: which of 64 samples, + 64 for green. Blue
// samples are inserted afterwards.
alignas(64) inline constexpr std::array<std::uint8_t, 192> kSampleAt = [] {
  std::array<std::uint8_t, 192> samples{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::uint8_t>(i / 3 + (i % 3 == 1 ? 64 : 0));
  }
  return samples;
}();

// Writes the `kPart`-th 64 bytes.
template <int kPart>
HWY_INLINE void StorePart(const Rgb& in, std::uint8_t* out) {
  constexpr std::uint64_t kEveryThird = 0x9249249249249249;
  constexpr std::uint64_t kBlue = kEveryThird << (2 * kPart + 2) % 3;
  const __m512i samples = _mm512_load_si512(kSampleAt.data() + 64 * kPart);
  const __m512i red_green =
      _mm512_permutex2var_epi8(in.r.raw, samples, in.g.raw);
  _mm512_storeu_si512(
      out + 64 * kPart,
      _mm512_mask_permutexvar_epi8(red_green, kBlue, samples, in.b.raw));
}

HWY_INLINE void StoreRgb(const Rgb& in, std::uint8_t* out) {
  StorePart<0>(in, out);
  StorePart<1>(in, out);
  StorePart<2>(in, out);
}

#else

// Rotates one colour's samples within each 128-bit lane so that each is at its
// place in the one of three output lanes R G B R G B ... to which it belongs:
// no two of 16 have the same place.
template <int kColor>
HWY_INLINE V8 Spread(V8 samples) {
  alignas(16) static constexpr std::array<std::uint8_t, 16> kPlaces = [] {
    std::array<std::uint8_t, 16> places{};
    for (int i = 0; i < 16; ++i) {
      places[(3 * i + kColor) % 16] = static_cast<std::uint8_t>(i);
    }
    return places;
  }();
  return hn::TableLookupBytes(samples, hn::LoadDup128(D8(), kPlaces.data()));
}

// Mask of the bytes whose place in a lane is kRest modulo 3.
template <int kRest>
HWY_INLINE hn::Mask<D8> EveryThird() {
  alignas(16) static constexpr std::array<std::uint8_t, 16> kBytes = [] {
    std::array<std::uint8_t, 16> bytes{};
    for (int i = kRest; i < 16; i += 3) {
      bytes[i] = 255;
    }
    return bytes;
  }();
  return hn::MaskFromVec(hn::LoadDup128(D8(), kBytes.data()));
}

// Writes the 128-bit lanes of three vectors interleaved.
HWY_INLINE void StoreLanes(V8 a, V8 b, V8 c, std::uint8_t* out) {
#if HWY_TARGET == HWY_AVX3
  const __m512i b0 = _mm512_permutex2var_epi64(
      a.raw, _mm512_setr_epi64(0, 1, 8, 9, 0, 0, 2, 3), b.raw);
  const __m512i b1 = _mm512_permutex2var_epi64(
      b.raw, _mm512_setr_epi64(2, 3, 10, 11, 0, 0, 4, 5), c.raw);
  const __m512i b2 = _mm512_permutex2var_epi64(
      c.raw, _mm512_setr_epi64(4, 5, 0, 0, 14, 15, 6, 7), b.raw);
  _mm512_storeu_si512(out,
                      _mm512_mask_shuffle_i64x2(b0, 0x30, c.raw, c.raw, 0x00));
  _mm512_storeu_si512(out + 64,
                      _mm512_mask_shuffle_i64x2(b1, 0x30, a.raw, a.raw, 0x20));
  _mm512_storeu_si512(out + 128,
                      _mm512_mask_shuffle_i64x2(b2, 0x0C, a.raw, a.raw, 0x0C));
#elif HWY_TARGET == HWY_AVX2
  auto* vectors = reinterpret_cast<__m256i*>(out);
  _mm256_storeu_si256(vectors, _mm256_permute2x128_si256(a.raw, b.raw, 0x20));
  _mm256_storeu_si256(vectors + 1, _mm256_blend_epi32(c.raw, a.raw, 0xF0));
  _mm256_storeu_si256(vectors + 2,
                      _mm256_permute2x128_si256(b.raw, c.raw, 0x31));
#else
  hn::StoreU(a, D8(), out);
  hn::StoreU(b, D8(), out + kLanes);
  hn::StoreU(c, D8(), out + 2 * kLanes);
#endif
}

HWY_INLINE void StoreRgb(const Rgb& in, std::uint8_t* out) {
  const V8 r = Spread<0>(in.r);
  const V8 g = Spread<1>(in.g);
  const V8 b = Spread<2>(in.b);
  const auto first = EveryThird<0>();
  const auto second = EveryThird<1>();
  StoreLanes(hn::IfThenElse(first, r, hn::IfThenElse(second, g, b)),
             hn::IfThenElse(first, g, hn::IfThenElse(second, b, r)),
             hn::IfThenElse(first, b, hn::IfThenElse(second, r, g)), out);
}

#endif

// Calls convert(i) for the vectors that cover `count` pixels and stores the
// results: the last vector overlaps the one before, or is stored through a
// buffer.
template <typename Convert>
HWY_INLINE void StoreAll(int count, std::uint8_t* rgb, const Convert& convert) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    StoreRgb(convert(i), rgb + std::ptrdiff_t{3} * i);
  }
  if (i == count) {
    return;
  }
  if (count >= kLanes) {
    i = count - kLanes;
    StoreRgb(convert(i), rgb + std::ptrdiff_t{3} * i);
    return;
  }
  std::array<std::uint8_t, 3 * kLanes> last;
  StoreRgb(convert(0), last.data());
  std::memcpy(rgb, last.data(), static_cast<std::size_t>(3) * count);
}

// The same into planes, whose last vectors are written whole.
template <typename Convert>
HWY_INLINE void StoreAll(int count, const PlanesRow& row,
                         const Convert& convert) {
  for (int i = 0; i < count; i += kLanes) {
    const Rgb pixels = convert(i);
    hn::StoreU(pixels.r, D8(), row[0] + i);
    hn::StoreU(pixels.g, D8(), row[1] + i);
    hn::StoreU(pixels.b, D8(), row[2] + i);
  }
}

}  // namespace color

template <typename Row>
static void YccToRgb(const std::uint8_t* y, const std::uint8_t* cb,
                     const std::uint8_t* cr, int count, const Row& row) {
  using namespace color;
  const D8 d;
  StoreAll(count, row, [&](int i) HWY_ATTR {
    return ConvertSamples(hn::LoadU(d, y + i), hn::LoadU(d, cb + i),
                          hn::LoadU(d, cr + i));
  });
}

template <typename Row>
static void PlanesToRgb(const std::uint8_t* r, const std::uint8_t* g,
                        const std::uint8_t* b, int count, const Row& row) {
  using namespace color;
  const D8 d;
  StoreAll(count, row, [&](int i) HWY_ATTR {
    return Rgb{hn::LoadU(d, r + i), hn::LoadU(d, g + i), hn::LoadU(d, b + i)};
  });
}

#else

template <typename Row>
static void YccToRgb(const std::uint8_t* y, const std::uint8_t* cb,
                     const std::uint8_t* cr, int count, const Row& row) {
  YccToRgbRow(y, cb, cr, count, row);
}

template <typename Row>
static void PlanesToRgb(const std::uint8_t* r, const std::uint8_t* g,
                        const std::uint8_t* b, int count, const Row& row) {
  PlanesToRgbRow(r, g, b, count, row);
}

#endif

template <typename Row>
static void GrayToRgb(const std::uint8_t* y, int count, const Row& row) {
  PlanesToRgb(y, y, y, count, row);
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_COLOR_INL_H_
