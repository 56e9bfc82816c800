// BicubicTaps() for each instruction set.
#if defined(INFEED_PREPROCESS_RESIZE_BICUBIC_TAPS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_RESIZE_BICUBIC_TAPS_INL_H_
#undef INFEED_PREPROCESS_RESIZE_BICUBIC_TAPS_INL_H_
#else
#define INFEED_PREPROCESS_RESIZE_BICUBIC_TAPS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <hwy/highway.h>

#include "preprocess/resize/four_taps.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {
namespace bicubic {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VI = hn::Vec<DI>;
using VU = hn::Vec<DU>;

constexpr std::size_t kLanes = HWY_LANES(float);

// As the scalar function.
HWY_INLINE VU FixedWeight(VU weight) {
  const DU d;
  const VU is_odd =
      hn::And(hn::ShiftRight<kWeightShift>(weight), hn::Set(d, 1));
  const VU half = hn::Set(d, (1U << (kWeightShift - 1)) - 1);
  return hn::ShiftRight<kWeightShift>(hn::Add(hn::Add(weight, half), is_odd));
}

// Two weights as they lie in memory.
HWY_INLINE VU Pair(VU first, VU second) {
  if constexpr (std::endian::native == std::endian::big) {
    std::swap(first, second);
  }
  return hn::Or(hn::And(first, hn::Set(DU(), 0xFFFF)),
                hn::ShiftLeft<16>(second));
}

struct Taps {
  HWY_ALIGN std::array<std::int32_t, kLanes> first;
  HWY_ALIGN std::array<std::uint32_t, kLanes> weights01;
  HWY_ALIGN std::array<std::uint32_t, kLanes> weights23;
};

// As BicubicPlaceOf() and BicubicWeights() for a vector of outputs.
HWY_INLINE void Compute(int out_first, float scale, int last, Taps& taps) {
  const DF df;
  const DI di;
  const DU du;
  const auto place = hn::Mul(
      hn::ConvertTo(df, hn::Add(hn::Iota(di, 0), hn::Set(di, out_first))),
      hn::Set(df, scale));
  const VI whole = hn::Min(hn::ConvertTo(di, place), hn::Set(di, last));
  const auto steps = hn::Mul(hn::Sub(place, hn::ConvertTo(df, whole)),
                             hn::Set(df, kBicubicSteps));
  const VU all = hn::Set(du, kBicubicSteps);
  const VU x = hn::Min(hn::BitCast(du, hn::NearestInt(steps)), all);
  const VU y = hn::Sub(all, x);
  const VU far = hn::Max(x, y);
  const VU xy = hn::Mul(hn::Mul(x, y), hn::Set(du, 3));
  const VU first = FixedWeight(hn::Mul(xy, y));
  const VU last_weight = FixedWeight(hn::Mul(xy, x));
  const VU less = FixedWeight(hn::Mul(
      hn::Sub(hn::Mul(far, hn::Set(du, 5)), hn::Set(du, 9 * kBicubicSteps)),
      hn::Mul(far, far)));
  const VU most = hn::Sub(hn::Add(hn::Add(first, last_weight),
                                  hn::Set(du, 1U << kResizeWeightBits)),
                          less);
  const auto is_early = hn::Eq(far, y);
  const VU zero = hn::Zero(du);
  hn::Store(hn::Sub(whole, hn::Set(di, 1)), di, taps.first.data());
  hn::Store(Pair(hn::Sub(zero, first), hn::IfThenElse(is_early, most, less)),
            du, taps.weights01.data());
  hn::Store(
      Pair(hn::IfThenElse(is_early, less, most), hn::Sub(zero, last_weight)),
      du, taps.weights23.data());
}

}  // namespace bicubic

void BicubicTaps(int out_first, float scale, int last,
                 std::span<FourTaps> taps) {
  bicubic::Taps some;
  for (std::size_t i = 0; i < taps.size(); i += bicubic::kLanes) {
    bicubic::Compute(out_first + static_cast<int>(i), scale, last, some);
    const std::size_t count = std::min(bicubic::kLanes, taps.size() - i);
    for (std::size_t k = 0; k < count; ++k) {
      FourTaps& to = taps[i + k];
      to.first = some.first[k];
      std::memcpy(to.weight.data(), &some.weights01[k], 4);
      std::memcpy(to.weight.data() + 2, &some.weights23[k], 4);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_RESIZE_BICUBIC_TAPS_INL_H_
