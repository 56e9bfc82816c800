#pragma once

#include "base/random.h"
#include "preprocess/pixels/image.h"

// Which window of an image is used. The reference is the TPU ResNet driver,
// whose functions these follow to the rounding; docs/decisions.md says where
// they come from.
namespace infeed {

// The reference's random training crop (TensorFlow's
// sample_distorted_bounding_box with one box, the whole image): aspect ratio
// uniform in 3/4..4/3, height uniform between the heights that give 0.08 and
// 1.0 of the area, at most ten attempts, at least 0.1 of the image covered.
// Returns the whole image when all attempts failed.
// Requires: height > 0, width > 0.
[[nodiscard]] Window RandomCropWindow(int height, int width,
                                      RandomSource& random);

// The reference's evaluation crop: a centred square of 0.875 of the shorter
// side (for image_size 224: shorter side * 224 / 256). Requires: all > 0.
// At least one pixel, where the reference would fail.
[[nodiscard]] Window CenterCropWindow(int height, int width, int image_size);

// The share of the shorter side that it has: 0.875 for 224, about that for
// other sizes.
[[nodiscard]] float CenterCropFraction(int image_size);

// The reference's training window: the random crop, but the centre crop where
// the random one is the whole of a three-component image.
[[nodiscard]] Window TrainingWindow(int height, int width, int components,
                                    int image_size, RandomSource& random);

}  // namespace infeed
