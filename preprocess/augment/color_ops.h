#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/augment/pixels.h"

// The operations of RandAugment and AutoAugment that change colours but move no
// pixel, as in the reference driver and with its arithmetic: single precision,
// each product and sum rounded. docs/recipes.md describes them all.
//
// An operation with a factor blends from a first image (factor 0) to the image
// itself (factor 1), and extrapolates above 1; results are clipped and
// truncated.
namespace infeed {

void Invert(std::span<std::uint32_t> pixels);

// Keeps the upper `bits` bits of each level. As in TensorFlow, 0 counts as 1; 8
// and more change nothing. Requires: bits >= 0.
void Posterize(int bits, std::span<std::uint32_t> pixels);

// Inverts levels >= threshold.
void Solarize(int threshold, std::span<std::uint32_t> pixels);

// Adds to levels below 128; limits the sum to 255.
void SolarizeAdd(int addition, std::span<std::uint32_t> pixels);

// Blends from the gray image.
void AdjustColor(float factor, std::span<std::uint32_t> pixels);

// Blends from a constant gray of pixels.size() / 256, at most 255: the
// reference intends the mean but divides the number of pixels by the number of
// levels.
void AdjustContrast(float factor, std::span<std::uint32_t> pixels);

// Blends from black.
void AdjustBrightness(float factor, std::span<std::uint32_t> pixels);

// Blends from a constant.
void BlendFromConstant(float constant, float factor,
                       std::span<std::uint32_t> pixels);

// Blends from the image smoothed with the kernel 1 1 1, 1 5 1, 1 1 1 over 13;
// the border, one pixel wide, is unchanged. rows is scratch memory of any size.
void AdjustSharpness(float factor, PixelImage image, std::vector<float>& rows);

// Stretches each channel's levels to 0..255, truncated; a channel with a single
// level is unchanged.
void AutoContrast(std::span<std::uint32_t> pixels);
// As AutoContrast(), but in double precision, as Pillow does.
void StretchLevels(std::span<std::uint32_t> pixels);

// Equalizes each channel's histogram; a channel with fewer than 255 pixels
// below its highest level is unchanged. Requires: pixels.size() < 2^31.
void Equalize(std::span<std::uint32_t> pixels);

}  // namespace infeed
