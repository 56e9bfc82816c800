#pragma once

#include <cstdint>
#include <span>

// The loops of augmentation that gain from wide vectors: plain C++, compiled
// for each instruction set (simd_target.h). Every product and sum is rounded in
// single precision, so all of them give the same bytes.
namespace infeed {

// Levels between those of TensorFlow's gray image, at factor 0, and their own,
// at 1, or beyond; clipped, the fraction dropped.
void BlendFromGray(float factor, std::span<std::uint32_t> pixels);

// A row's samples (four bytes to a pixel) over 13, as the smoothing's outer
// weight has them. Requires: weighed is as long as row.
void WeighRow(std::span<const std::uint8_t> row, float* weighed);

// Blends a row's inner pixels from the smoothed image's. above, beside and
// below are the weighed rows there; the order of the sum is TensorFlow's, and
// decides where it is whole.
void SharpenRow(float factor, const float* above, const float* beside,
                const float* below, std::span<std::uint8_t> row);

// Where an output pixel (x, y) comes from: by_x x + by_y y + offset.
struct SourceAxis {
  float by_x;
  float by_y;
  float offset;
};

// The index in an image, side x side, of what each pixel of row y of the output
// comes from: the nearest, half away from zero; side * side where that is
// outside. Requires: places has side elements.
void FindPlaces(const SourceAxis& from_x, const SourceAxis& from_y, int y,
                std::span<std::int32_t> places);

// The sum of the levels of torchvision's gray image.
[[nodiscard]] std::uint64_t SumOfGray(std::span<const std::uint32_t> pixels);

// factor times the levels and gray_part times those of torchvision's gray
// image; clipped, the fraction dropped.
void MixWithGray(float factor, float gray_part,
                 std::span<std::uint32_t> pixels);

// Turns the hue by sextants of the circle, -3 to 3.
void TurnHue(float sextants, std::span<std::uint32_t> pixels);

}  // namespace infeed
