#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "preprocess/augment/pixels.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// Draws the window that torchvision's RandomErasing erases in an image of that
// size; nullopt: none. With this probability it has 0.02 to 0.33 of the image's
// area, a height-to-width ratio of 0.3 to 3.3 (log-uniform), and a uniform
// place. It must be smaller than the image both ways: at most ten tries. Draws
// Real() for the probability, then for each try Real() for the area and Real()
// for the ratio, then Below(size.height - height + 1) and Below(size.width -
// width + 1) for the first pixel.
[[nodiscard]] std::optional<Window> DrawErasing(float probability,
                                                const ImageSize& size,
                                                RandomSource& random);

// ImageNet's mean colour, in whole levels: what torchvision's examples and
// timm's mode "const" leave, which erase after the normalization.
[[nodiscard]] std::uint32_t MeanPixel();

// Fills the window with noise: in each channel ImageNet's mean plus its
// standard deviation times a value of about a normal distribution, within
// 0..255, as timm's mode "pixel" does after the normalization. The value is the
// sum of a drawn word's four bytes, so that it has the same bits on every
// machine: a word for each channel of each pixel, row by row.
void FillWithNoise(const Window& window, PixelImage image,
                   SampleRandom& random);

}  // namespace infeed
