#include "preprocess/resize/antialias_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/resize/antialias_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/resize/antialias-inl.h"

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(BlendTaps);
HWY_EXPORT(SumRows);

void BlendTaps(const std::uint8_t* upper, const std::uint8_t* lower,
               const AntialiasColumns& columns, RowPairGroup* pair) {
  HWY_DYNAMIC_DISPATCH(BlendTaps)(upper, lower, columns, pair);
}

void SumRows(std::span<const WeightedPair> pairs, int size,
             std::uint32_t* pixels) {
  HWY_DYNAMIC_DISPATCH(SumRows)(pairs, size, pixels);
}

}  // namespace infeed
#endif  // HWY_ONCE
