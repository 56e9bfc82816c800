#pragma once

#include "base/random.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/options.h"

// A window in its own shape in an output of any shape. Requires: all sizes > 0.
namespace infeed {

// The largest size at which the whole window fits, rounded half to even:
// Ultralytics' LetterBox.
[[nodiscard]] Framing FitWindow(const Window& window, const ImageSize& output,
                                FitMargin margin);

// torchvision's ScaleJitter and its reference scripts' FixedSizeCrop: draws the
// factor, and, if the window becomes larger than the output, one number for the
// output's place both ways. Requires: fit.is_scaled().
[[nodiscard]] Framing JitterScale(const Window& window, const ImageSize& output,
                                  const FitOptions& fit, RandomSource& random);

}  // namespace infeed
