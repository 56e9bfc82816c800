#pragma once

#include <cstdint>
#include <span>

// The augmentation loops that benefit from wide vectors: plain C++, compiled
// for each instruction set (simd_target.h): TensorFlow's and torchvision's,
// then those of Pillow's operations. Every product and sum is rounded in single
// precision, so all instruction sets give the same bytes.
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

// The sum of the levels of Pillow's gray image.
[[nodiscard]] std::uint64_t SumOfPillowGray(
    std::span<const std::uint32_t> pixels);

// Blends from Pillow's gray image (factor 0) to the image itself (1), or
// beyond; clipped and truncated.
void BlendFromPillowGray(float factor, std::span<std::uint32_t> pixels);

// Blends the inner samples of a row (four bytes a pixel) from those of Pillow's
// filter SMOOTH. above, beside and below are the original rows. Requires: each
// is as long as row.
void BlendFromSmooth(float factor, const std::uint8_t* above,
                     const std::uint8_t* beside, const std::uint8_t* below,
                     std::span<std::uint8_t> row);

// A source coordinate of output pixel (x, y), in 2^-16 pixel: by_x x + by_y y +
// offset.
struct FixedAxis {
  std::int32_t by_x;
  std::int32_t by_y;
  std::int32_t offset;
};

// Finds the source of each pixel of output row y, as an index into an image of
// that height and as many columns as places: the pixel in which the source
// coordinate lies; the number of pixels outside the image.
void FindFixedPlaces(const FixedAxis& from_x, const FixedAxis& from_y, int y,
                     int height, std::span<std::int32_t> places);

// The source (x, y) of output pixel (x, y), counted from the image's corner:
// xx (x + 1/2) + xy (y + 1/2) + x; likewise for y.
struct Affine {
  double xx = 1;
  double xy = 0;
  double x = 0;
  double yx = 0;
  double yy = 1;
  double y = 0;
};

// Makes output row y of the pixels around its sources, weighted by Pillow's
// BILINEAR (four of them) or BICUBIC (16, the kernel with A = -1); truncated.
// Edges are repeated; `outside` where the source is not in the image. Requires:
// source has `height` rows as long as row.
void InterpolateRow(bool is_bicubic, const Affine& affine, int y,
                    const std::uint32_t* source, int height,
                    std::uint32_t outside, std::span<std::uint32_t> row);

}  // namespace infeed
