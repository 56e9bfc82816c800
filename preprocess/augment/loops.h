#pragma once

#include <cstdint>
#include <span>

// The augmentation loops that benefit from wide vectors: plain C++, compiled
// for each instruction set (simd_target.h). Every product and sum is rounded in
// single precision, so all instruction sets give the same bytes.
namespace infeed {

// Blends from TensorFlow's gray image (factor 0) to the image itself (1), or
// beyond; clipped and truncated.
void BlendFromGray(float factor, std::span<std::uint32_t> pixels);

// Divides a row's samples (four bytes a pixel) by 13, which gives them the
// smoothing kernel's outer weight. Requires: weighed is as long as row.
void WeighRow(std::span<const std::uint8_t> row, float* weighed);

// Blends a row's inner pixels from the smoothed image. above, beside and below
// are the weighed row before, the row's own and the one after. Sums in
// TensorFlow's order, which decides the rounding.
void SharpenRow(float factor, const float* above, const float* beside,
                const float* below, std::span<std::uint8_t> row);

// A source coordinate of output pixel (x, y): by_x x + by_y y + offset.
struct SourceAxis {
  float by_x;
  float by_y;
  float offset;
};

// Finds the source of each pixel of output row y, as an index into an image of
// that height and as many columns as places: the nearest pixel, half away from
// zero; the number of pixels outside the image.
void FindPlaces(const SourceAxis& from_x, const SourceAxis& from_y, int y,
                int height, std::span<std::int32_t> places);

// The sum of the levels of torchvision's gray image.
[[nodiscard]] std::uint64_t SumOfGray(std::span<const std::uint32_t> pixels);

// factor times the levels plus gray_part times those of torchvision's gray
// image; clipped and truncated.
void MixWithGray(float factor, float gray_part,
                 std::span<std::uint32_t> pixels);

// Turns the hue by sextants of the circle, -3 to 3.
void TurnHue(float sextants, std::span<std::uint32_t> pixels);

}  // namespace infeed
