#include "preprocess/augment/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/augment/loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/augment/loops-inl.h"

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(BlendFromGray);
HWY_EXPORT(WeighRow);
HWY_EXPORT(SharpenRow);
HWY_EXPORT(FindPlaces);
HWY_EXPORT(SumOfGray);
HWY_EXPORT(MixWithGray);
HWY_EXPORT(TurnHue);

void BlendFromGray(float factor, std::span<std::uint32_t> pixels) {
  HWY_DYNAMIC_DISPATCH(BlendFromGray)(factor, pixels);
}

void WeighRow(std::span<const std::uint8_t> row, float* weighed) {
  HWY_DYNAMIC_DISPATCH(WeighRow)(row, weighed);
}

void SharpenRow(float factor, const float* above, const float* beside,
                const float* below, std::span<std::uint8_t> row) {
  HWY_DYNAMIC_DISPATCH(SharpenRow)(factor, above, beside, below, row);
}

void FindPlaces(const SourceAxis& from_x, const SourceAxis& from_y, int y,
                int height, std::span<std::int32_t> places) {
  HWY_DYNAMIC_DISPATCH(FindPlaces)(from_x, from_y, y, height, places);
}

std::uint64_t SumOfGray(std::span<const std::uint32_t> pixels) {
  return HWY_DYNAMIC_DISPATCH(SumOfGray)(pixels);
}

void MixWithGray(float factor, float gray_part,
                 std::span<std::uint32_t> pixels) {
  HWY_DYNAMIC_DISPATCH(MixWithGray)(factor, gray_part, pixels);
}

void TurnHue(float sextants, std::span<std::uint32_t> pixels) {
  HWY_DYNAMIC_DISPATCH(TurnHue)(sextants, pixels);
}

}  // namespace infeed
#endif  // HWY_ONCE
