#include "preprocess/augment/pillow_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/augment/pillow_loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/augment/pillow_loops-inl.h"

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(SumOfPillowGray);
HWY_EXPORT(BlendFromPillowGray);
HWY_EXPORT(BlendFromSmooth);
HWY_EXPORT(FindFixedPlaces);
HWY_EXPORT(InterpolateRow);

std::uint64_t SumOfPillowGray(std::span<const std::uint32_t> pixels) {
  return HWY_DYNAMIC_DISPATCH(SumOfPillowGray)(pixels);
}

void BlendFromPillowGray(float factor, std::span<std::uint32_t> pixels) {
  HWY_DYNAMIC_DISPATCH(BlendFromPillowGray)(factor, pixels);
}

void BlendFromSmooth(float factor, const std::uint8_t* above,
                     const std::uint8_t* beside, const std::uint8_t* below,
                     std::span<std::uint8_t> row) {
  HWY_DYNAMIC_DISPATCH(BlendFromSmooth)(factor, above, beside, below, row);
}

void FindFixedPlaces(const FixedAxis& from_x, const FixedAxis& from_y, int y,
                     int height, std::span<std::int32_t> places) {
  HWY_DYNAMIC_DISPATCH(FindFixedPlaces)(from_x, from_y, y, height, places);
}

void InterpolateRow(bool is_bicubic, const Affine& affine, int y,
                    const std::uint32_t* source, int height,
                    std::uint32_t outside, std::span<std::uint32_t> row) {
  HWY_DYNAMIC_DISPATCH(InterpolateRow)
  (is_bicubic, affine, y, source, height, outside, row);
}

}  // namespace infeed
#endif  // HWY_ONCE
