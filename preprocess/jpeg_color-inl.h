// Colour as in jpeg_color_scalar.h, for each instruction set, and by inclusion
// upsampling. Input rows are readable 64 bytes behind what is named; exactly
// 3 * count bytes R G B are written.
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

#include "preprocess/jpeg_color_scalar.h"
#include "preprocess/jpeg_upsample-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
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
#else
  return V8{_mm_packus_epi16(a.raw, b.raw)};
#endif
}

// kEven * samples in even places + kOdd * samples in odd ones.
template <int kEven, int kOdd>
HWY_INLINE V16 Dot(V8 samples) {
  const V16 factors = hn::Set(
      D16(), static_cast<std::int16_t>((kOdd & 0xFF) << 8 | (kEven & 0xFF)));
#if HWY_TARGET <= HWY_AVX3
  return V16{_mm512_maddubs_epi16(samples.raw, factors.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(samples.raw, factors.raw)};
#else
  return V16{_mm_maddubs_epi16(samples.raw, factors.raw)};
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

// Half a vector: y, and chroma in pairs. The table of libjpeg for red,
// (91881 * v + 2^15) >> 16 with v = cr - 128, is v + (13173 * v + 2^14) >> 15
// for all v; that for blue likewise. For green, -22554 * u - 46802 * v is
// 2 * (-11277 * u + 9367 * v) - 65536 * v, of which the part in brackets is
// taken apart as 256 * (-44 * cb + 37 * cr) - 13 * cb - 105 * cr + 955 * 256.
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

// Where in 16 pixels' worth of one colour the one is that belongs at byte i of
// three 16-byte lanes R G B R G B ..., when it is the `color`-th. Each sample
// has one place, whichever lane it belongs to.
constexpr std::uint8_t SampleAt(std::size_t i, std::size_t color) {
  const std::size_t lane = (i + 3 - color) % 3 == 0   ? 0
                           : (i + 4 - color) % 3 == 0 ? 1
                                                      : 2;
  return static_cast<std::uint8_t>((16 * lane + i - color) / 3);
}

HWY_INLINE void StoreRgb(const Rgb& in, std::uint8_t* out) {
  hn::StoreInterleaved3(in.r, in.g, in.b, D8(), out);
}

// Calls convert(i) for the vectors that cover `count` pixels and stores what it
// returns: the last vector overlaps the one before, or goes by way of a buffer.
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

}  // namespace color

HWY_MAYBE_UNUSED static void YccToRgb(const std::uint8_t* y,
                                      const std::uint8_t* cb,
                                      const std::uint8_t* cr, int count,
                                      std::uint8_t* rgb) {
  using namespace color;
  const D8 d;
  StoreAll(count, rgb, [&](int i) HWY_ATTR {
    return ConvertSamples(hn::LoadU(d, y + i), hn::LoadU(d, cb + i),
                          hn::LoadU(d, cr + i));
  });
}

HWY_MAYBE_UNUSED static void PlanesToRgb(const std::uint8_t* r,
                                         const std::uint8_t* g,
                                         const std::uint8_t* b, int count,
                                         std::uint8_t* rgb) {
  using namespace color;
  const D8 d;
  StoreAll(count, rgb, [&](int i) HWY_ATTR {
    return Rgb{hn::LoadU(d, r + i), hn::LoadU(d, g + i), hn::LoadU(d, b + i)};
  });
}

#else

HWY_MAYBE_UNUSED static void YccToRgb(const std::uint8_t* y,
                                      const std::uint8_t* cb,
                                      const std::uint8_t* cr, int count,
                                      std::uint8_t* rgb) {
  YccToRgbRow(y, cb, cr, count, rgb);
}

HWY_MAYBE_UNUSED static void PlanesToRgb(const std::uint8_t* r,
                                         const std::uint8_t* g,
                                         const std::uint8_t* b, int count,
                                         std::uint8_t* rgb) {
  PlanesToRgbRow(r, g, b, count, rgb);
}

#endif

HWY_MAYBE_UNUSED static void GrayToRgb(const std::uint8_t* y, int count,
                                       std::uint8_t* rgb) {
  PlanesToRgb(y, y, y, count, rgb);
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_COLOR_INL_H_
