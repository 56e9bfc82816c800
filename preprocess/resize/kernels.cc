#include "preprocess/resize/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/resize/kernels.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/resize/antialias-inl.h"
#include "preprocess/resize/bicubic_taps-inl.h"
#include "preprocess/resize/resize-inl.h"

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(SplitRow);
HWY_EXPORT(BlendColumns);
HWY_EXPORT(BlendRows);
HWY_EXPORT(BicubicTaps);
HWY_EXPORT(BlendTaps);
HWY_EXPORT(SumRows);

void SplitRow(const std::uint8_t* rgb, int width, const PlanesRow& row) {
  HWY_DYNAMIC_DISPATCH(SplitRow)(rgb, width, row);
}

void BlendColumns(const PlanesRow& row, const ResizeColumns& columns, int slot,
                  RowsGroup* rows) {
  HWY_DYNAMIC_DISPATCH(BlendColumns)(row, columns, slot, rows);
}

void BlendRows(const RowsGroup* rows,
               const std::array<std::int16_t, 4>& weights,
               const PixelRow& row) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(rows, weights, row);
}

void BicubicTaps(int out_first, float scale, int last,
                 std::span<FourTaps> taps) {
  HWY_DYNAMIC_DISPATCH(BicubicTaps)(out_first, scale, last, taps);
}

void FinishPixels() { hwy::FlushStream(); }

void BlendTaps(const std::uint8_t* upper, const std::uint8_t* lower,
               const AntialiasColumns& columns, RowPairGroup* pair) {
  HWY_DYNAMIC_DISPATCH(BlendTaps)(upper, lower, columns, pair);
}

void SumRows(std::span<const WeightedPair> pairs, const PixelRow& row) {
  HWY_DYNAMIC_DISPATCH(SumRows)(pairs, row);
}

}  // namespace infeed
#endif  // HWY_ONCE
