#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/augment/pixels.h"
#include "preprocess/pixels/image.h"

// The operations of RandAugment and AutoAugment that move or cover pixels, as
// in the reference driver. An output pixel is the nearest source pixel (half
// rounds away from zero), or gray outside the image.
namespace infeed {

// The gray of pixels from outside the image and of cut-out areas.
constexpr std::uint32_t kAugmentFill = 0x80808000;

// Scratch memory of a move, kept from image to image.
struct MoveScratch {
  std::vector<std::uint32_t> source;  // the original image, then the fill
  std::vector<std::int32_t> places;   // indices into source for an output row
};

// Copies the image and the pixel for places outside of it into source, and
// makes room for a row's places.
void CopySource(std::uint32_t outside, PixelImage image, MoveScratch& scratch);
// Fills a row of the image from the places in source.
void TakePlaces(std::uint32_t* row, const MoveScratch& scratch);

// Rotates about the image's centre; positive degrees are counter-clockwise.
void Rotate(float degrees, PixelImage image, MoveScratch& scratch);

// Output pixel (x, y) is the source pixel at (x + factor y, y) for ShearX, at
// (x, y + factor x) for ShearY.
void ShearX(float factor, PixelImage image, MoveScratch& scratch);
void ShearY(float factor, PixelImage image, MoveScratch& scratch);

// Output pixel (x, y) is the source pixel at (x + distance, y) for TranslateX,
// at (x, y + distance) for TranslateY.
void TranslateX(float distance, PixelImage image, MoveScratch& scratch);
void TranslateY(float distance, PixelImage image, MoveScratch& scratch);

// Fills rows [row - reach, row + reach) of columns [column - reach, column +
// reach), clipped to the image. Requires: reach >= 0.
void Cutout(int row, int column, int reach, PixelImage image);

// Requires: window lies within the image.
void FillWindow(const Window& window, std::uint32_t pixel, PixelImage image);

}  // namespace infeed
