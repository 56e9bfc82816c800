#pragma once

#include "base/random.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"

// Computes the crop window of an image. The reference is the TPU ResNet driver,
// whose functions these match including rounding; docs/internals/decisions.md
// lists the sources.
namespace infeed {

// The reference's random training crop (TensorFlow's
// sample_distorted_bounding_box with one box, the whole image): aspect ratio
// uniform in 3/4..4/3, height uniform between the heights that give 0.08 and
// 1.0 of the area, at most ten attempts, at least 0.1 of the image covered.
// Returns the whole image if all attempts fail. Requires: height > 0, width >
// 0.
[[nodiscard]] Window RandomCropWindow(int height, int width,
                                      RandomSource& random);

// The reference's evaluation crop: a centred square of a part of the shorter
// side (EvalCropFraction()); for outputs that are not square a window of their
// shape, that part of the largest one in the image. At least one pixel each
// way, where the reference would fail. Requires: all > 0.
[[nodiscard]] Window CenterCropWindow(int height, int width, float fraction,
                                      const ImageSize& output = 1);

// The reference's training window: the random crop, or the centre crop if the
// random one is the whole image and the image has three components.
[[nodiscard]] Window TrainingWindow(int height, int width, int components,
                                    const ImageSize& image_size,
                                    RandomSource& random);

}  // namespace infeed
