#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/augment/pixels.h"

// The operations of RandAugment and AutoAugment that change colours and leave
// every pixel where it is; the reference driver's, in its arithmetic: single
// precision, each product and sum rounded. docs/augmentation.md has them all.
//
// What takes a factor blends two images: the first at factor 0, the image
// itself at 1, beyond it above; clipped, the fraction dropped.
namespace infeed {

void Invert(std::span<std::uint32_t> pixels);

// Keeps the upper bits of each level. As in TensorFlow, 0 bits are 1; 8 and
// more change nothing. Requires: bits >= 0.
void Posterize(int bits, std::span<std::uint32_t> pixels);

// Inverts the levels from threshold on.
void Solarize(int threshold, std::span<std::uint32_t> pixels);

// Adds to the levels below 128, up to 255.
void SolarizeAdd(int addition, std::span<std::uint32_t> pixels);

// From the gray image.
void AdjustColor(float factor, std::span<std::uint32_t> pixels);

// From a constant gray of pixels.size() / 256, at most 255: the reference means
// the mean and divides the number of pixels by the number of levels.
void AdjustContrast(float factor, std::span<std::uint32_t> pixels);

// From black.
void AdjustBrightness(float factor, std::span<std::uint32_t> pixels);

// From the image smoothed by 1 1 1, 1 5 1, 1 1 1 over 13; the border, one pixel
// wide, stays. rows is scratch of any size.
void AdjustSharpness(float factor, PixelSquare image, std::vector<float>& rows);

}  // namespace infeed
