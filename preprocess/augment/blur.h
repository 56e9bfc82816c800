#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/augment/pixels.h"

namespace infeed {

// Scratch memory of blurs, kept from image to image.
struct BlurScratch {
  std::vector<std::int32_t> line;
  std::vector<std::int32_t> sums;
  std::vector<std::uint16_t> plane;
};

// torchvision's GaussianBlur(23, sigma) on 8-bit levels, within a level: its
// sums are single precision, these are fixed point (weights in 2^-15, levels
// between the passes in 1/256). Edges are reflected without repeating the first
// pixel; taps that would lie outside of that are left out. Requires: sigma > 0.
void GaussianBlur(float sigma, PixelImage image, BlurScratch& scratch);

}  // namespace infeed
