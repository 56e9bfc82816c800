#include "preprocess/augment/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/augment/loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/augment/loops-inl.h"
#include "preprocess/augment/pillow_loops-inl.h"

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(BlendFromGray);
HWY_EXPORT(WeighRow);
HWY_EXPORT(SharpenRow);
HWY_EXPORT(FindPlaces);
HWY_EXPORT(SumOfGray);
HWY_EXPORT(MixWithGray);
HWY_EXPORT(TurnHue);
HWY_EXPORT(SumOfPillowGray);
HWY_EXPORT(BlendFromPillowGray);
HWY_EXPORT(BlendFromSmooth);
HWY_EXPORT(FindFixedPlaces);
HWY_EXPORT(InterpolateRow);

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
