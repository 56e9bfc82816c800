#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/augment/pixels.h"
#include "preprocess/pixels/image.h"

// The operations of RandAugment and AutoAugment that move pixels or cover them;
// the reference driver's. An output pixel is the nearest of the image, half
// away from zero, or gray where there is none.
namespace infeed {

// Levels of what comes from outside and of what is cut out.
constexpr std::uint32_t kAugmentFill = 0x80808000;

// What a move needs beside the image; kept from image to image.
struct MoveScratch {
  std::vector<std::uint32_t> source;  // the image as it was, and the fill
  std::vector<std::int32_t> places;   // in it, of a row of the output
};

// About the image's centre; positive degrees turn it counter-clockwise.
void Rotate(float degrees, PixelSquare image, MoveScratch& scratch);

// (x, y) becomes what was at (x + factor y, y), or at (x, y + factor x).
void ShearX(float factor, PixelSquare image, MoveScratch& scratch);
void ShearY(float factor, PixelSquare image, MoveScratch& scratch);

// (x, y) becomes what was at (x + distance, y), or at (x, y + distance).
void TranslateX(float distance, PixelSquare image, MoveScratch& scratch);
void TranslateY(float distance, PixelSquare image, MoveScratch& scratch);

// Fills rows [row - reach, row + reach) of columns [column - reach, column +
// reach), as far as the image goes. Requires: reach >= 0.
void Cutout(int row, int column, int reach, PixelSquare image);

// Requires: window lies within the image.
void FillWindow(const Window& window, std::uint32_t pixel, PixelSquare image);

}  // namespace infeed
