// The arithmetic of the inverse DCT on vectors: the passes over pairs of rows
// or columns. Each 128-bit lane is a block.
#if defined(INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#undef INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_pixels/idct_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {
namespace idct {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using D8 = hn::ScalableTag<std::int8_t>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using V8 = hn::Vec<D8>;

constexpr int kC0298 = Fixed13(0.298631336);
constexpr int kC0390 = Fixed13(0.390180644);
constexpr int kC0541 = Fixed13(0.541196100);
constexpr int kC0765 = Fixed13(0.765366865);
constexpr int kC0899 = Fixed13(0.899976223);
constexpr int kC1175 = Fixed13(1.175875602);
constexpr int kC1501 = Fixed13(1.501321110);
constexpr int kC1847 = Fixed13(1.847759065);
constexpr int kC1961 = Fixed13(1.961570560);
constexpr int kC2053 = Fixed13(2.053119869);
constexpr int kC2562 = Fixed13(2.562915447);
constexpr int kC3072 = Fixed13(3.072711026);
constexpr int kOne = 8192;

// How far the results of the two passes are shifted right.
constexpr int kFirstShift = 11;
constexpr int kSecondShift = 18;

// even * a's even lanes + odd * a's odd lanes, wrapping at 32 bits.
template <int kEven, int kOdd>
HWY_INLINE V32 Dot(V16 a) {
  const D32 d32;
#if HWY_ARCH_X86
  const auto factors = hn::BitCast(
      D16(), hn::Set(d32, static_cast<std::int32_t>(
                              static_cast<std::uint32_t>(kOdd) << 16 |
                              (static_cast<std::uint32_t>(kEven) & 0xFFFF))));
  V32 unused = hn::Undefined(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, factors, hn::Zero(d32), unused);
#else
  const V32 pairs = hn::BitCast(d32, a);
  const V32 even = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
  return hn::Add(hn::Mul(even, hn::Set(d32, kEven)),
                 hn::Mul(hn::ShiftRight<16>(pairs), hn::Set(d32, kOdd)));
#endif
}

// Adds Dot() to sum.
template <int kEven, int kOdd>
HWY_INLINE V32 DotAdd(V32 sum, V16 a) {
  return hn::Add(sum, Dot<kEven, kOdd>(a));
}

// The half that rounds a sum before it is shifted right.
HWY_INLINE V32 Half(int shift) { return hn::Set(D32(), 1 << (shift - 1)); }

// A mask of the first number of each pair.
HWY_INLINE V16 EvenLanes() {
  return hn::BitCast(D16(), hn::Set(D32(), 0xFFFF));
}

// Half of the columns of eight rows: four in a lane, two rows interleaved.
struct PairedRows {
  V16 p04;
  V16 p26;
  V16 p71;
  V16 p35;
};

// The eight results of a pass for four columns a block, not yet shifted.
struct WideRows {
  V32 row[8];
};

HWY_INLINE WideRows Butterflies(V32 even0, V32 even1, V32 even2, V32 even3,
                                V32 odd0, V32 odd1, V32 odd2, V32 odd3) {
  return {{hn::Add(even0, odd0), hn::Add(even1, odd1), hn::Add(even2, odd2),
           hn::Add(even3, odd3), hn::Sub(even3, odd3), hn::Sub(even2, odd2),
           hn::Sub(even1, odd1), hn::Sub(even0, odd0)}};
}

// Adds the half that rounds to a sum to be shifted right by kShift: through the
// first number of each pair, which is multiplied by kOne, if the half is a
// multiple of kOne; else directly.
template <int kShift>
inline constexpr int kHalves = (1 << (kShift - 1)) / kOne;
template <int kShift>
HWY_INLINE V16 WithHalf(V16 pairs) {
  if constexpr (kHalves < kShift >> 0) {
    return hn::Add(pairs, hn::BitCast(D16(), hn::Set(D32(), kHalves<kShift>)));
  }
  return pairs;
}
template <int kShift>
HWY_INLINE V32 WithHalf(V32 sum) {
  return kHalves<kShift> > 0 ? sum : hn::Add(sum, Half(kShift));
}

// One pass over eight rows. Requires: rows 0 and 4 have a sum and a difference
// of 16 bits, with 16 to spare.
template <int kShift>
HWY_INLINE WideRows FullPass(const PairedRows& in) {
  const V16 p04 = WithHalf<kShift>(in.p04);
  const V32 sum = WithHalf<kShift>(Dot<kOne, kOne>(p04));
  const V32 difference = WithHalf<kShift>(Dot<kOne, -kOne>(p04));
  const V32 high = Dot<kC0541 + kC0765, kC0541>(in.p26);
  const V32 low = Dot<kC0541, kC0541 - kC1847>(in.p26);
  const V16 turned = hn::Add(in.p71, in.p35);  // wraps at 16 bits
  const V32 a = Dot<kC1175 - kC1961, kC1175>(turned);
  const V32 b = Dot<kC1175, kC1175 - kC0390>(turned);
  return Butterflies(hn::Add(sum, high), hn::Add(difference, low),
                     hn::Sub(difference, low), hn::Sub(sum, high),
                     DotAdd<-kC0899, kC1501 - kC0899>(b, in.p71),
                     DotAdd<kC3072 - kC2562, -kC2562>(a, in.p35),
                     DotAdd<-kC2562, kC2053 - kC2562>(b, in.p35),
                     DotAdd<kC0298 - kC0899, -kC0899>(a, in.p71));
}

// A pass where rows 4 to 7 are zero; rows 0 and 2 and rows 3 and 1 are
// interleaved.
template <int kShift>
HWY_INLINE WideRows CornerPass(V16 p02_in, V16 p31) {
  const V16 p02 = WithHalf<kShift>(p02_in);
  return Butterflies(WithHalf<kShift>(Dot<kOne, kC0541 + kC0765>(p02)),
                     WithHalf<kShift>(Dot<kOne, kC0541>(p02)),
                     WithHalf<kShift>(Dot<kOne, -kC0541>(p02)),
                     WithHalf<kShift>(Dot<kOne, -kC0541 - kC0765>(p02)),
                     Dot<kC1175, kC1501 - kC0899 + kC1175 - kC0390>(p31),
                     Dot<kC3072 - kC2562 + kC1175 - kC1961, kC1175>(p31),
                     Dot<kC1175 - kC2562, kC1175 - kC0390>(p31),
                     Dot<kC1175 - kC1961, kC1175 - kC0899>(p31));
}

#endif  // HWY_TARGET

}  // namespace idct
}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_IDCT_PASS_INL_H_
